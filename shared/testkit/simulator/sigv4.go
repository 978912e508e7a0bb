package simulator

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// signed is an Authorization header of Signature Version 4
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html).
var signed = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=([^/,]+)/(\d{8})/([a-z0-9-]+)/([a-z0-9-]+)/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$`)

// maxSkew is how far a signature's time may be from ours.
const maxSkew = 5 * time.Minute

// authorizeAWS checks a bearer key or recomputes the signature.
func (x *exchange) authorizeAWS() *refusal {
	header := x.r.Header.Get("Authorization")
	if key, ok := strings.CutPrefix(header, "Bearer "); ok {
		x.owner = key
		if strings.HasPrefix(key, BedrockKey) {
			return nil
		}
		e := converseFormat{}.worded(troubleAuth)
		return &e
	}
	if header == "" {
		return forbidden("MissingAuthenticationTokenException", "Missing Authentication Token")
	}
	m := signed.FindStringSubmatch(header)
	if m == nil {
		return forbidden("IncompleteSignatureException", "Authorization header requires 'Credential', 'Signature' and 'SignedHeaders' parameters.")
	}
	access, date, region, service, names, signature := m[1], m[2], m[3], m[4], m[5], m[6]
	x.owner = access
	at, err := time.Parse("20060102T150405Z", x.r.Header.Get("X-Amz-Date"))
	token := x.r.Header.Get("X-Amz-Security-Token")
	switch now := x.server.options.Now(); {
	case err != nil || at.Format("20060102") != date:
		return forbidden("IncompleteSignatureException", "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP.")
	case access != AWSAccessKeyID || (token != "" && token != AWSSessionToken):
		e := converseFormat{}.worded(troubleAuth)
		return &e
	case now.Sub(at) > maxSkew || at.Sub(now) > maxSkew:
		return forbidden("InvalidSignatureException", "Signature expired: "+at.Format("20060102T150405Z")+" is now earlier than the time of this server")
	case service != "bedrock":
		return forbidden("InvalidSignatureException", "Credential should be scoped to correct service: 'bedrock'.")
	}
	if want, err := x.signature(region, token, strings.Split(names, ";"), at); err != nil || want != signature {
		return forbidden("InvalidSignatureException", "The request signature we calculated does not match the signature you provided. "+
			"Check your AWS Secret Access Key and signing method. Consult the service documentation for details.")
	}
	return nil
}

func forbidden(kind, message string) *refusal {
	return &refusal{status: http.StatusForbidden, kind: kind, message: message}
}

// signature signs what was received as its sender should have.
func (x *exchange) signature(region, token string, names []string, at time.Time) (string, error) {
	again, err := http.NewRequestWithContext(context.Background(), x.r.Method, "http://"+x.r.Host, bytes.NewReader(x.body))
	if err != nil {
		return "", err
	}
	again.URL.Path, again.URL.RawPath, again.URL.RawQuery = x.r.URL.Path, x.r.URL.RawPath, x.r.URL.RawQuery
	again.Host, again.ContentLength, again.Body = x.r.Host, 0, io.NopCloser(nil)
	for _, name := range names {
		switch name {
		case "content-length":
			again.ContentLength, _ = strconv.ParseInt(x.r.Header.Get("Content-Length"), 10, 64)
			if again.ContentLength == 0 {
				again.ContentLength = int64(len(x.body))
			}
		case "host", "x-amz-date", "x-amz-security-token":
		default:
			again.Header[http.CanonicalHeaderKey(name)] = x.r.Header.Values(name)
		}
	}
	sum := sha256.Sum256(x.body)
	credentials := aws.Credentials{AccessKeyID: AWSAccessKeyID, SecretAccessKey: AWSSecretAccessKey, SessionToken: token}
	if err := v4.NewSigner().SignHTTP(context.Background(), credentials, again, hex.EncodeToString(sum[:]), "bedrock", region, at); err != nil {
		return "", err
	}
	m := signed.FindStringSubmatch(again.Header.Get("Authorization"))
	if m == nil || m[5] != strings.Join(names, ";") {
		return "", nil // other headers are signed than should be
	}
	return m[6], nil
}
