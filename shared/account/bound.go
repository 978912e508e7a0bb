package account

import (
	"errors"
	"net"
	"net/url"
	"regexp"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// googleTokens is where every key of a service account says to exchange.
const googleTokens = "https://oauth2.googleapis.com/token"

var (
	errTokenURI = errors.New("the credential's token_uri is no https URL")
	errForeign  = errors.New("the credential names a token_uri of its own, which only the platform's operator may")
	errMachine  = errors.New("the machine's own account is the platform operator's")
	errProject  = errors.New("the credential's project_id is not the id of a Google Cloud project")
)

// mayExchangeAt bounds where an assertion or a client secret is sent: https
// keeps it off the wire in clear. Plain http is for what runs beside the
// gateway, such as tests.
func mayExchangeAt(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Opaque != "":
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return errTokenURI
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

var tenantID = regexp.MustCompile(`^[A-Za-z0-9.-]{1,253}$`)

// ByTenant refuses what only an operator may give: a credential that makes the
// gateway send requests to a place of its author's choice, or act as the
// machine that it runs on.
func (a Account) ByTenant() error {
	switch {
	case a.Metadata:
		return errMachine
	case a.Google != nil && a.Google.TokenURI != googleTokens:
		return errForeign
	case a.Google != nil && a.Google.Project != "" && !catalog.ValidProject(a.Google.Project):
		return errProject
	case a.Entra != nil && a.Entra.TokenURI != "":
		return errForeign
	case a.Entra != nil && !tenantID.MatchString(a.Entra.Tenant):
		return ErrAccount
	}
	return nil
}
