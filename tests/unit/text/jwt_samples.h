/* tests/unit/text/jwt_samples.h - keys, and tokens their owners signed at 1700000000 for an hour.
 */
#pragma once

/* clang-format off */
static const char RSA_JWK[] =
	"{\"kty\":\"RSA\",\"kid\":\"r1\",\"use\":\"sig\",\"alg\":\"RS256\",\"n\":\"rHxRXZKtwZ"
	"yZ0pGmr-nzUuN0XEOWelmkft2LFQqQRGHxdEUxOT72fqXFach4ikBvkJ5ZNtv1VKTSrFWZaFYzNaTQ8dGhdE"
	"SzVTNxeyFN77s1zrrvwl2xDecNZO_L7Anb8CueeYI99-84XACHvd6_GfWv8ZL71OzMI1yecI8ovU2cnczlSQ"
	"6UD1YsQDV0XW7eyz72B7xBfQ0cPJB2_jNadwz1skk4ivY-eF7k7bXW2FBHAQyCyvsSTAmwiMcj8LCS-eJHbZ"
	"zVn7zYdF13RVbHYgoKJQ0NL6Fjzn3PB2ZD11MyAbytBAklsOe1ER4vmZe-cnVJPc8SXlgiZ8QFxF5Rxw\","
	"\"e\":\"AQAB\"}";

static const char EC_JWK[] =
	"{\"kty\":\"EC\",\"kid\":\"e1\",\"crv\":\"P-256\",\"x\":\"gNchG--jIsYWbNDRR9u0umSOEKl"
	"YE76liOPJuia9eqI\",\"y\":\"PRquitv8twmIoB6NWI5EVA7Y6y3-iIt9SvQk0BR7M8o\"}";

static const char ED_JWK[] =
	"{\"kty\":\"OKP\",\"kid\":\"d1\",\"crv\":\"Ed25519\",\"x\":\"jU_ttbraCY6mWShgyeLd_VdS"
	"1k1zorUkAoRpE21N7xE\"}";

/* {"sub":"alice","role":"writer","iat":1700000000,"exp":1700003600} */
static const char RS256_TOKEN[] =
	"eyJhbGciOiJSUzI1NiIsImtpZCI6InIxIn0.eyJzdWIiOiJhbGljZSIsInJvbGUiOiJ3cml0ZXIiLCJpYXQi"
	"OjE3MDAwMDAwMDAsImV4cCI6MTcwMDAwMzYwMH0.ALwqHz2VY-CtZcs6Kd_6YDKO4K6ackiIa_RFuhD7VLbJ"
	"clxLCk9eNzXEoMfid2Z444dW-xviI_exuo2nvQ1TV1FQ7WUKfxi9W7yJfYhF9Ik22ra3W2xffLGbbS0VYDXe"
	"DXo1RUb_Y0xxM6_NJWFfxxDuj8Nn19UKW9APw7hHBgIDcIWSW3yRcMZS52tT4QqzU1LnFC4AzH8hJAzql3yT"
	"VLFaszyYDt5vgjTjrnmLu5GmOl-MlUYOVCcS9Zau9LRXYLXATRqoRdiVIYZ8WQy4XCvxNqw6Kxq9CcF_-G7D"
	"To94OInVYUYPm4ipsSmNReTsh1EKwE2E1yrBO9mEf_ZLuA";

static const char ES256_TOKEN[] =
	"eyJhbGciOiJFUzI1NiIsImtpZCI6ImUxIn0.eyJzdWIiOiJhbGljZSIsInJvbGUiOiJ3cml0ZXIiLCJpYXQi"
	"OjE3MDAwMDAwMDAsImV4cCI6MTcwMDAwMzYwMH0.gx8dZX7iNZIlXek0Zf7GWz1MLEN_MkxTBxUGgfiLQQ_G"
	"dYoQBJqC67769OixPKzYU0r7Og2P_z4GxoCWouL2Vg";

static const char EDDSA_TOKEN[] =
	"eyJhbGciOiJFZERTQSIsImtpZCI6ImQxIn0.eyJzdWIiOiJhbGljZSIsInJvbGUiOiJ3cml0ZXIiLCJpYXQi"
	"OjE3MDAwMDAwMDAsImV4cCI6MTcwMDAwMzYwMH0.Gq793q97jemzUxvLm-GTPjGr2ND-8_y4bDT6ZMZIpWmd"
	"07FEA0DFeoXFDQNPJrLRzYUd9ZfHd3aW-YuC1U2UDA";

static const char RS256_NOKID_TOKEN[] =
	"eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbGljZSIsInJvbGUiOiJ3cml0ZXIiLCJpYXQiOjE3MDAwMDAwMDA"
	"sImV4cCI6MTcwMDAwMzYwMH0.gPmNcl3Cdx0d58V0WFUoNW21v1EfekfGe9np78ki5ooJ-ZhP5IDSn9Tips5"
	"ki4xQoy1OgvKySHfUPHvy6tYuTcHQ6ZwDBH9WLaTigDhGLE0GIBycBJQHATHyVYzqDF2I8YxxE2D15ZR185e"
	"pEQVLaxzIDBdzzBKxikzh_YOScvCTBUfJ9HDUoyLsQv5ADH-V9SAB0U5kUcNWqGO33hsulesNX4Dsy-xkP_C"
	"thWiesuM05_HGCxHXFRwbQwkJz01rc-PKgC9oi4yyuoblR3OxxU6M6pREfDF-q0DNFP7FgwGHL55_DakFOjz"
	"3wOXhiiw9jg-iLSfiqbpuGnht4o36rQ";

/* clang-format on */
