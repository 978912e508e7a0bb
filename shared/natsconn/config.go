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
	URL       string        `mapstructure:"url"` // one or several, separated by commas
	CredsFile string        `mapstructure:"creds_file"`
	User      string        `mapstructure:"user"`
	Password  secret.String `mapstructure:"password"`
	Token     secret.String `mapstructure:"token"`
	Name      string        `mapstructure:"name"` // shown in the server's connection list
	CAFile    string        `mapstructure:"ca_file"`
	CertFile  string        `mapstructure:"cert_file"`
	KeyFile   string        `mapstructure:"key_file"`
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
	return errors.Join(found...)
}
