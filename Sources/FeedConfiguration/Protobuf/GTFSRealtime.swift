extension ProtobufSchema {
    /// The schema of GTFS Realtime (`transit_realtime.FeedMessage`).
    ///
    /// Its definitions are those of gtfs-realtime.proto, without comments, defaults and extensions: Copyright 2015 The GTFS
    /// Specifications Authors, under the Apache License 2.0 (https://github.com/google/transit, commit 2dd229b).
    package static let gtfsRealtime = ProtobufSchema(
        package: "transit_realtime", message: "FeedMessage",
        """
        message FeedMessage { FeedHeader header = 1; repeated FeedEntity entity = 2; }
        message FeedHeader {
            string gtfs_realtime_version = 1;
            enum Incrementality { FULL_DATASET = 0; DIFFERENTIAL = 1; }
            Incrementality incrementality = 2; uint64 timestamp = 3; string feed_version = 4;
        }
        message FeedEntity {
            string id = 1; bool is_deleted = 2; TripUpdate trip_update = 3; VehiclePosition vehicle = 4; Alert alert = 5;
            Shape shape = 6; Stop stop = 7; TripModifications trip_modifications = 8;
        }
        message TripUpdate {
            TripDescriptor trip = 1; VehicleDescriptor vehicle = 3;
            message StopTimeEvent { int32 delay = 1; int64 time = 2; int32 uncertainty = 3; int64 scheduled_time = 4; }
            message StopTimeUpdate {
                uint32 stop_sequence = 1; string stop_id = 4; StopTimeEvent arrival = 2; StopTimeEvent departure = 3;
                VehiclePosition.OccupancyStatus departure_occupancy_status = 7;
                enum ScheduleRelationship { SCHEDULED = 0; SKIPPED = 1; NO_DATA = 2; UNSCHEDULED = 3; }
                ScheduleRelationship schedule_relationship = 5;
                message StopTimeProperties {
                    string assigned_stop_id = 1; string stop_headsign = 2;
                    enum DropOffPickupType { REGULAR = 0; NONE = 1; PHONE_AGENCY = 2; COORDINATE_WITH_DRIVER = 3; }
                    DropOffPickupType pickup_type = 3; DropOffPickupType drop_off_type = 4;
                }
                StopTimeProperties stop_time_properties = 6;
            }
            repeated StopTimeUpdate stop_time_update = 2; uint64 timestamp = 4; int32 delay = 5;
            message TripProperties {
                string trip_id = 1; string start_date = 2; string start_time = 3; string shape_id = 4; string trip_headsign = 5;
                string trip_short_name = 6;
            }
            TripProperties trip_properties = 6;
        }
        message VehiclePosition {
            TripDescriptor trip = 1; VehicleDescriptor vehicle = 8; Position position = 2; uint32 current_stop_sequence = 3;
            string stop_id = 7;
            enum VehicleStopStatus { INCOMING_AT = 0; STOPPED_AT = 1; IN_TRANSIT_TO = 2; }
            VehicleStopStatus current_status = 4; uint64 timestamp = 5;
            enum CongestionLevel {
                UNKNOWN_CONGESTION_LEVEL = 0; RUNNING_SMOOTHLY = 1; STOP_AND_GO = 2; CONGESTION = 3; SEVERE_CONGESTION = 4;
            }
            CongestionLevel congestion_level = 6;
            enum OccupancyStatus {
                EMPTY = 0; MANY_SEATS_AVAILABLE = 1; FEW_SEATS_AVAILABLE = 2; STANDING_ROOM_ONLY = 3;
                CRUSHED_STANDING_ROOM_ONLY = 4; FULL = 5; NOT_ACCEPTING_PASSENGERS = 6; NO_DATA_AVAILABLE = 7;
                NOT_BOARDABLE = 8;
            }
            OccupancyStatus occupancy_status = 9; uint32 occupancy_percentage = 10;
            message CarriageDetails {
                string id = 1; string label = 2; OccupancyStatus occupancy_status = 3; int32 occupancy_percentage = 4;
                uint32 carriage_sequence = 5;
            }
            repeated CarriageDetails multi_carriage_details = 11;
        }
        message Alert {
            repeated TimeRange active_period = 1; repeated EntitySelector informed_entity = 5;
            enum Cause {
                UNKNOWN_CAUSE = 1; OTHER_CAUSE = 2; TECHNICAL_PROBLEM = 3; STRIKE = 4; DEMONSTRATION = 5; ACCIDENT = 6;
                HOLIDAY = 7; WEATHER = 8; MAINTENANCE = 9; CONSTRUCTION = 10; POLICE_ACTIVITY = 11; MEDICAL_EMERGENCY = 12;
                SPECIAL_EVENT = 13;
            }
            Cause cause = 6;
            enum Effect {
                NO_SERVICE = 1; REDUCED_SERVICE = 2; SIGNIFICANT_DELAYS = 3; DETOUR = 4; ADDITIONAL_SERVICE = 5;
                MODIFIED_SERVICE = 6; OTHER_EFFECT = 7; UNKNOWN_EFFECT = 8; STOP_MOVED = 9; NO_EFFECT = 10;
                ACCESSIBILITY_ISSUE = 11;
            }
            Effect effect = 7; TranslatedString url = 8; TranslatedString header_text = 10;
            TranslatedString description_text = 11; TranslatedString tts_header_text = 12;
            TranslatedString tts_description_text = 13;
            enum SeverityLevel { UNKNOWN_SEVERITY = 1; INFO = 2; WARNING = 3; SEVERE = 4; }
            SeverityLevel severity_level = 14; TranslatedImage image = 15; TranslatedString image_alternative_text = 16;
            TranslatedString cause_detail = 17; TranslatedString effect_detail = 18;
        }
        message TimeRange { uint64 start = 1; uint64 end = 2; }
        message Position { float latitude = 1; float longitude = 2; float bearing = 3; double odometer = 4; float speed = 5; }
        message TripDescriptor {
            string trip_id = 1; string route_id = 5; uint32 direction_id = 6; string start_time = 2; string start_date = 3;
            enum ScheduleRelationship {
                SCHEDULED = 0; ADDED = 1; UNSCHEDULED = 2; CANCELED = 3; REPLACEMENT = 5; DUPLICATED = 6; DELETED = 7; NEW = 8;
            }
            ScheduleRelationship schedule_relationship = 4;
            message ModifiedTripSelector {
                string modifications_id = 1; string affected_trip_id = 2; string start_time = 3; string start_date = 4;
            }
            ModifiedTripSelector modified_trip = 7;
        }
        message VehicleDescriptor {
            string id = 1; string label = 2; string license_plate = 3;
            enum WheelchairAccessible { NO_VALUE = 0; UNKNOWN = 1; WHEELCHAIR_ACCESSIBLE = 2; WHEELCHAIR_INACCESSIBLE = 3; }
            WheelchairAccessible wheelchair_accessible = 4;
        }
        message EntitySelector {
            string agency_id = 1; string route_id = 2; int32 route_type = 3; TripDescriptor trip = 4; string stop_id = 5;
            uint32 direction_id = 6;
        }
        message TranslatedString {
            message Translation { string text = 1; string language = 2; }
            repeated Translation translation = 1;
        }
        message TranslatedImage {
            message LocalizedImage { string url = 1; string media_type = 2; string language = 3; }
            repeated LocalizedImage localized_image = 1;
        }
        message Shape { string shape_id = 1; string encoded_polyline = 2; }
        message Stop {
            enum WheelchairBoarding { UNKNOWN = 0; AVAILABLE = 1; NOT_AVAILABLE = 2; }
            string stop_id = 1; TranslatedString stop_code = 2; TranslatedString stop_name = 3;
            TranslatedString tts_stop_name = 4; TranslatedString stop_desc = 5; float stop_lat = 6; float stop_lon = 7;
            string zone_id = 8; TranslatedString stop_url = 9; string parent_station = 11; string stop_timezone = 12;
            WheelchairBoarding wheelchair_boarding = 13; string level_id = 14; TranslatedString platform_code = 15;
        }
        message TripModifications {
            message Modification {
                StopSelector start_stop_selector = 1; StopSelector end_stop_selector = 2;
                int32 propagated_modification_delay = 3; repeated ReplacementStop replacement_stops = 4;
                string service_alert_id = 5; uint64 last_modified_time = 6;
            }
            message SelectedTrips { repeated string trip_ids = 1; string shape_id = 2; }
            repeated SelectedTrips selected_trips = 1; repeated string start_times = 2; repeated string service_dates = 3;
            repeated Modification modifications = 4;
        }
        message StopSelector { uint32 stop_sequence = 1; string stop_id = 2; }
        message ReplacementStop { int32 travel_time_to_stop = 1; string stop_id = 2; }
        """)
}
