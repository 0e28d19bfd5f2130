/* Keys of tests, and of nothing else: those of RFC 8032 (section 7.1) and RFC 6979 (A.2.5), and some that are not
 * taken. */
#ifndef HARNESS_TESTS_UNIT_SIGN_KEYS_H
#define HARNESS_TESTS_UNIT_SIGN_KEYS_H

#define KEY_ED25519_PRIVATE                                                                                            \
	"-----BEGIN PRIVATE KEY-----\n"                                                                                \
	"MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"                                           \
	"-----END PRIVATE KEY-----\n"
#define KEY_ED25519_PUBLIC                                                                                             \
	"-----BEGIN PUBLIC KEY-----\n"                                                                                 \
	"MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"                                               \
	"-----END PUBLIC KEY-----\n"
#define KEY_OTHER_PRIVATE                                                                                              \
	"-----BEGIN PRIVATE KEY-----\n"                                                                                \
	"MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n"                                           \
	"-----END PRIVATE KEY-----\n"
#define KEY_OTHER_PUBLIC                                                                                               \
	"-----BEGIN PUBLIC KEY-----\n"                                                                                 \
	"MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=\n"                                               \
	"-----END PUBLIC KEY-----\n"
#define KEY_P256_PRIVATE                                                                                               \
	"-----BEGIN PRIVATE KEY-----\n"                                                                                \
	"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgya+p2EW6dRZrXCFX\n"                                           \
	"Z7HWk05Qw9s26JsSe4piKxIPZyGhRANCAARg/tS6JVqdMclh63TGNW1owEm4kjth\n"                                           \
	"+mzmaWIuYPKftnkD/hAIuLyZpBrp6VYovGTy8bIMLX6fUXejwpTURiKZ\n"                                                   \
	"-----END PRIVATE KEY-----\n"
#define KEY_P256_PUBLIC                                                                                                \
	"-----BEGIN PUBLIC KEY-----\n"                                                                                 \
	"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7\n"                                           \
	"Yfps5mliLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==\n"                                               \
	"-----END PUBLIC KEY-----\n"
/* The P-256 one in other texts. */
#define KEY_P256_COMPRESSED                                                                                            \
	"-----BEGIN PUBLIC KEY-----\n"                                                                                 \
	"MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgADYP7UuiVanTHJYet0xjVtaMBJuJI7\n"                                           \
	"Yfps5mliLmDyn7Y=\n"                                                                                           \
	"-----END PUBLIC KEY-----\n"
#define KEY_P256_HYBRID                                                                                                \
	"-----BEGIN PUBLIC KEY-----\n"                                                                                 \
	"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAHYP7UuiVanTHJYet0xjVtaMBJuJI7\n"                                           \
	"Yfps5mliLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==\n"                                               \
	"-----END PUBLIC KEY-----\n"
#define KEY_P256_EXPLICIT                                                                                              \
	"-----BEGIN PUBLIC KEY-----\n"                                                                                 \
	"MIIBSzCCAQMGByqGSM49AgEwgfcCAQEwLAYHKoZIzj0BAQIhAP////8AAAABAAAA\n"                                           \
	"AAAAAAAAAAAA////////////////MFsEIP////8AAAABAAAAAAAAAAAAAAAA////\n"                                           \
	"///////////8BCBaxjXYqjqT57PrvVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMVAMSd\n"                                           \
	"NgiG5wSTamZ44ROdJreBn36QBEEEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5\n"                                           \
	"RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA\n"                                           \
	"//////////+85vqtpxeehPO5ysL8YyVRAgEBA0IABGD+1LolWp0xyWHrdMY1bWjA\n"                                           \
	"SbiSO2H6bOZpYi5g8p+2eQP+EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk=\n"                                           \
	"-----END PUBLIC KEY-----\n"
#define KEY_MISMATCHED                                                                                                 \
	"-----BEGIN PRIVATE KEY-----\n"                                                                                \
	"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgya+p2EW6dRZrXCFX\n"                                           \
	"Z7HWk05Qw9s26JsSe4piKxIPZyGhRANCAARrF9Hy4SxCR/i85uVjpEDydwN9gS3r\n"                                           \
	"M6D0oTlF2JjClk/jQuL+Gn+bjufrSnwPnhYrzjNXazFezsu2QGg3v1H1\n"                                                   \
	"-----END PRIVATE KEY-----\n"
#define KEY_P384_PRIVATE                                                                                               \
	"-----BEGIN PRIVATE KEY-----\n"                                                                                \
	"MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDAzMsaHLnQ9MxsjT0Wx\n"                                           \
	"vkiL8Z3FR4uVqbh0LlOcPJxD4Dq0SslBCz7PKMGRVCrzGVmhZANiAASpspt/dTFc\n"                                           \
	"nlU81IzaR1/l3GWm+ld3VMIC+C4FdqylkkXHyhJD12B1wreqUB6AuA8gwZfKwWvy\n"                                           \
	"fGXG5eARLSayiJCXmxlNrqLXPxiORHI+I850xA6H1Jxmmpez4Gtkwzk=\n"                                                   \
	"-----END PRIVATE KEY-----\n"
#define KEY_P384_PUBLIC                                                                                                \
	"-----BEGIN PUBLIC KEY-----\n"                                                                                 \
	"MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEqbKbf3UxXJ5VPNSM2kdf5dxlpvpXd1TC\n"                                           \
	"AvguBXaspZJFx8oSQ9dgdcK3qlAegLgPIMGXysFr8nxlxuXgES0msoiQl5sZTa6i\n"                                           \
	"1z8YjkRyPiPOdMQOh9ScZpqXs+BrZMM5\n"                                                                           \
	"-----END PUBLIC KEY-----\n"
#define KEY_X25519_PRIVATE                                                                                             \
	"-----BEGIN PRIVATE KEY-----\n"                                                                                \
	"MC4CAQAwBQYDK2VuBCIEIJA61+N9VminTWlK9NbyOhRlUkYVV0lugCDjW6UkSstR\n"                                           \
	"-----END PRIVATE KEY-----\n"
#define KEY_ENCRYPTED                                                                                                  \
	"-----BEGIN ENCRYPTED PRIVATE KEY-----\n"                                                                      \
	"MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAieENZRKeZXUwICCAAw\n"                                           \
	"DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEN0ghhM2NKY9reAqcqEFRqcEQNai\n"                                           \
	"x7u/qsE+L1Jz3LK0QCDZFh3yo1QekCwqfuk5f7I1SC6iT6yiYLK8hJl7RnsfRzMM\n"                                           \
	"8jjDqq+4dRyQ1TRwjwU=\n"                                                                                       \
	"-----END ENCRYPTED PRIVATE KEY-----\n"
#define KEY_TRADITIONAL                                                                                                \
	"-----BEGIN EC PRIVATE KEY-----\n"                                                                             \
	"MHcCAQEEIMmvqdhFunUWa1whV2ex1pNOUMPbNuibEnuKYisSD2choAoGCCqGSM49\n"                                           \
	"AwEHoUQDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Z5A/4QCLi8\n"                                           \
	"maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==\n"                                                                       \
	"-----END EC PRIVATE KEY-----\n"

#endif
