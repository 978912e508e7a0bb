package provider

import (
	"errors"
	"net/url"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/bounded"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// maxPlaces is how many URLs are kept. Those of the catalog's models are used
// again and again; those of files and jobs pass through.
const maxPlaces = 4096

// places keeps the URLs that calls go to.
type places struct {
	known *bounded.Cache[place, *url.URL]
}

type place struct {
	kind              catalog.ProviderType
	base, path, query string
}

func newPlaces() places { return places{bounded.New[place, *url.URL](maxPlaces)} }

var (
	errNoAddress = errors.New("the provider has no address for the region")
	errBadPath   = errors.New("the path of an upstream call is not one")
)

// target is where a request goes at a provider, which is the request's own but
// for what the credential says of it. The result is shared and must not be
// changed.
func (p places) target(r *upstream.Request, of *catalog.Provider) (*url.URL, error) {
	at := place{kind: of.Type, base: of.Address(r.Region), path: r.Path, query: r.Query}
	if u, ok := p.known.Get(at); ok {
		return u, nil
	}
	if at.base == "" {
		return nil, errNoAddress
	}
	u, err := at.url()
	if err != nil {
		return nil, err
	}
	p.known.Put(at, u)
	return u, nil
}

// url joins base and path as they are escaped.
func (p place) url() (*url.URL, error) {
	base, err := url.Parse(p.base)
	if err != nil {
		return nil, err
	}
	path := p.path
	if p.kind == catalog.Bedrock {
		// Names of models have colons, which AWS signs in their escaped form.
		path = strings.ReplaceAll(path, ":", "%3A")
	}
	raw := strings.TrimRight(base.EscapedPath(), "/") + path
	plain, err := url.PathUnescape(raw)
	if err != nil || !strings.HasPrefix(path, "/") || wanders(path) {
		return nil, errBadPath
	}
	base.Path, base.RawPath = plain, raw
	if base.RawQuery != "" && p.query != "" {
		base.RawQuery += "&"
	}
	base.RawQuery += p.query
	return base, nil
}

// wanders reports segments that lead out of the path that was meant.
func wanders(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if plain, err := url.PathUnescape(segment); err != nil || plain == "." || plain == ".." {
			return true
		}
	}
	return false
}
