extension PostgresError {
    /// A sentence for whoever must act; nil if the message says all there is to say.
    package var advice: String? {
        if let state, let advice = Self.advice(for: state) { return advice }
        return kind == .connecting || kind == .configuration ? hint ?? connectingAdvice : nil
    }

    private static func advice(for state: SQLState) -> String? {
        switch state {
        case .invalidPassword:
            "check the user and the password: in the connection string, PGPASSWORD or the password file (~/.pgpass, which only its owner may read)"
        case .invalidAuthorization:
            "check that the role exists and may log in, and that the server's pg_hba.conf lets it in from this machine, with or without TLS"
        case .unknownDatabase: "create the database, or correct its name in the connection string"
        case .tooManyConnections:
            "wait for connections to end, raise max_connections or the role's CONNECTION LIMIT, or put pgbouncer in between"
        case .cannotConnectNow: "wait until the server has started"
        case .adminShutdown, .crashShutdown:
            "the server is stopping or restarting, or an administrator ended this connection"
        case .readOnlyTransaction:
            "this server, database or role only reads; connect to the primary (target_session_attrs=read-write), or see default_transaction_read_only"
        case .insufficientPrivilege: "grant the role what it needs, or connect as the owner"
        case .queryCanceled: "see statement_timeout and lock_timeout of the role, the database and the server"
        case .lockNotAvailable: "another session holds the lock; pg_locks and pg_stat_activity show which"
        case .idleInTransactionTimeout: "see idle_in_transaction_session_timeout of the role and the server"
        case .diskFull: "make room on the server's disk"
        case .outOfMemory: "see the server's memory, its shared_buffers, work_mem and max_locks_per_transaction"
        case .characterNotInRepertoire: "the text is not valid UTF-8, or holds U+0000"
        case .untranslatableCharacter:
            "the database's encoding lacks a character of the text; use a database WITH ENCODING 'UTF8'"
        case .serializationFailure, .deadlockDetected: "another transaction was in the way; repeat it"
        default: nil
        }
    }

    /// By libpq's own words, which are English unless the process has called `setlocale`.
    private var connectingAdvice: String? {
        let advice = [
            // Several hosts have several messages. This is the one that tells most.
            ("session is read-only", "every server only reads; see target_session_attrs"),
            ("session is not read-only", "no server only reads; see target_session_attrs"),
            ("server is in hot standby mode", "every server is a standby; see target_session_attrs"),
            ("server is not in hot standby mode", "every server is a primary; see target_session_attrs"),
            ("could not translate host name", "check the host's name, and this machine's resolver"),
            ("Connection refused", "check that the server runs and listens at this address and port"),
            ("No such file or directory", "check that the server runs, and its unix_socket_directories"),
            ("timeout expired", "check the address, firewalls on the way, and connect_timeout"),
            ("server does not support SSL", "switch TLS on at the server, or choose another sslmode"),
            (
                "root certificate file",
                "give the certificate authority's file as sslrootcert, or choose another sslmode"
            ),
            (
                "certificate verify failed",
                "check sslrootcert: the server's certificate is signed by another authority, or has expired"
            ),
            (
                "does not match host name",
                "connect by a name that the server's certificate holds, or use sslmode=verify-ca"
            ),
            ("definition of service", "check the service file (~/.pg_service.conf, PGSERVICEFILE)"),
            (
                "server closed the connection",
                "see the server's log; it may be restarting, or something else listens there"
            ),
        ]
        return advice.first { message.contains($0.0) }?.1
    }
}
