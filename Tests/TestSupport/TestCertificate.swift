/// A certificate for 127.0.0.1 and localhost, signed by itself, and its key: made for tests, and good for nothing else.
package enum TestCertificate {
    package static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBmzCCAUGgAwIBAgIUVB0YGQIV2ODKRNy0fuf3cs6uk04wCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTIyNTUyNVoYDzIxMjYxMDI4
        MjI1NTI1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAR3CPSXhF/69W0m65ILe6qDDFF61nqrXOuyUai4FB+4qriYiCoB0OXE
        EgG6rL1UvLi/mCe/EBqVsJAoxvr5j70Fo28wbTAdBgNVHQ4EFgQUTfoyScSViOSl
        lW4xImGHl1XbYOYwHwYDVR0jBBgwFoAUTfoyScSViOSllW4xImGHl1XbYOYwDwYD
        VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwCgYIKoZI
        zj0EAwIDSAAwRQIgXZUqJI5iyYVmj7pzEiELPdvTXJYg+u2AyPM4kPjp8dsCIQCj
        hjSPpksaUWv7yhAgznbvGsZ9k+i07Jq615RqCHcvLw==
        -----END CERTIFICATE-----
        """
    package static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgG7UiksJH+IsAPfmB
        9WEK4r/SEAXGjuRpo2xhC0eEJ/ahRANCAAR3CPSXhF/69W0m65ILe6qDDFF61nqr
        XOuyUai4FB+4qriYiCoB0OXEEgG6rL1UvLi/mCe/EBqVsJAoxvr5j70F
        -----END PRIVATE KEY-----
        """
}
