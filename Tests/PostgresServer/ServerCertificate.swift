/// A certificate for 127.0.0.1 and localhost, signed by itself, and its key: made for tests, and good for nothing else.
package enum ServerCertificate {
    package static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBmzCCAUGgAwIBAgIUfWVcG7fhKndXuACq9P/5cWXPZX8wCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjA1MDUyOVoYDzIxMjYxMDI5
        MDUwNTI5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAARCsjrdpWi5BnZyNgItbSU0LQryLHhESApILTMS7kbtp5x12kSA4o+N
        ML3qI0zdePMgmko9eQmMobvN6/TGHyvao28wbTAdBgNVHQ4EFgQU2RCLOBADNT1i
        c1tLOWog7Z0hZQowHwYDVR0jBBgwFoAU2RCLOBADNT1ic1tLOWog7Z0hZQowDwYD
        VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwCgYIKoZI
        zj0EAwIDSAAwRQIgTz2v7/ceoOrj9XybF1GLo7wEWTBJzMFv9PIJl33W0pECIQDA
        hzd0iZa7DJ1yobi32b2EaVHMFxpXUyAsk8rL3SBXgA==
        -----END CERTIFICATE-----

        """
    package static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgUw7Ley/XJc/wK6tg
        VbptakDyMTOE+yP0XPbhk09I1h+hRANCAARCsjrdpWi5BnZyNgItbSU0LQryLHhE
        SApILTMS7kbtp5x12kSA4o+NML3qI0zdePMgmko9eQmMobvN6/TGHyva
        -----END PRIVATE KEY-----

        """
}
