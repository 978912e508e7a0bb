package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/account"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// awsService is Bedrock's name in signatures, of its runtime too
// (https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonbedrock.html).
const awsService = "bedrock"

var errNoRegion = errors.New("no region to sign for: name one in the provider's location or in the credential")

// signed puts AWS's signature, version 4, on requests
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html).
type signed struct {
	signer      *v4.Signer
	credentials aws.Credentials
	region      string // where the endpoint and its provider name none
	provider    *catalog.Provider
	now         func() time.Time
}

func (c *credentials) awsAccount(a *account.AWS, p *catalog.Provider) authorizer {
	return &signed{
		signer:      v4.NewSigner(),
		credentials: aws.Credentials{AccessKeyID: a.ID, SecretAccessKey: a.Secret.Reveal(), SessionToken: a.Token.Reveal()},
		region:      a.Region, provider: p, now: c.now,
	}
}

func (s *signed) authorize(r *http.Request, body upstream.Body, region string) error {
	where := s.provider.Region(region)
	if where == "" {
		where = s.region
	}
	if where == "" {
		where = regionOf(r.URL)
	}
	if where == "" {
		return errNoRegion
	}
	sum, err := digest(body)
	if err != nil {
		return err
	}
	u := *r.URL // shared by all calls to it, and the signer sorts its query
	r.URL = &u
	return s.signer.SignHTTP(r.Context(), s.credentials, r, sum, awsService, where, s.now())
}

func (*signed) refused(*http.Request) {}

// regionOf reads the region of AWS's own host names.
func regionOf(u *url.URL) string {
	rest, ok := strings.CutPrefix(u.Hostname(), "bedrock-runtime.")
	if region, _, cut := strings.Cut(rest, ".amazonaws.com"); ok && cut {
		return region
	}
	return ""
}

func digest(body upstream.Body) (string, error) {
	h := sha256.New()
	reader := body.Open()
	_, err := io.Copy(h, reader)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, reader.Close())
}
