// Package natsconn owns how a process reaches NATS: the connection's settings,
// its life across outages, and the buckets and streams that must exist. It
// knows nothing of what travels; wire has the names and the messages.
package natsconn

import (
	"errors"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Config says where NATS is and who connects. At most one kind of credential
// is given: a creds file, a token, or user and password.
type Config struct {
	URL       string        `mapstructure:"url"`        // one server or several, separated by commas, without credentials
	CredsFile string        `mapstructure:"creds_file"` // a .creds file with a user's JWT and seed
	User      string        `mapstructure:"user"`       // a user of the server's configuration
	Password  secret.String `mapstructure:"password"`   // the user's
	Token     secret.String `mapstructure:"token"`      // instead of a user
	Name      string        `mapstructure:"name"`       // what the server's list of connections shows
	CAFile    string        `mapstructure:"ca_file"`    // PEM certificates that the server's must lead to; the machine's when absent
	CertFile  string        `mapstructure:"cert_file"`  // PEM certificate that the client shows
	KeyFile   string        `mapstructure:"key_file"`   // PEM key of cert_file
	// InboxPrefix begins the subjects that answers come on. Each kind of
	// process has its own, so that permissions can keep gateways from reading
	// what is sent to the control plane.
	InboxPrefix string `mapstructure:"inbox_prefix"`
}

// Validate reports every contradiction in the configuration, by its key.
func (c Config) Validate() error {
	var found []error
	kinds := 0
	for _, given := range []bool{c.CredsFile != "", !c.Token.IsZero(), c.User != ""} {
		if given {
			kinds++
		}
	}
	if kinds > 1 {
		found = append(found, errors.New("creds_file, token and user exclude each other"))
	}
	if c.User == "" && !c.Password.IsZero() {
		found = append(found, errors.New("password: needs user"))
	}
	if (c.CertFile == "") != (c.KeyFile == "") {
		found = append(found, errors.New("cert_file and key_file belong together"))
	}
	if strings.Contains(c.URL, "@") {
		found = append(found, errors.New("url: must not hold credentials, use user and password or token"))
	}
	if strings.ContainsAny(c.InboxPrefix, "*> \t") || strings.HasSuffix(c.InboxPrefix, ".") {
		found = append(found, errors.New("inbox_prefix: want a subject without wildcards"))
	}
	return errors.Join(found...)
}
