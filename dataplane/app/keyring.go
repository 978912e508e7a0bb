package app

import (
	"errors"

	"github.com/signalbox-dev/signalbox/shared/secret"
)

// noKeyring stands where keyring_file is not set.
type noKeyring struct{}

var errNoKeyring = errors.New("keyring_file is not set, so no provider credential can be opened")

// Open implements provider.Opener.
func (noKeyring) Open(secret.Sealed, ...string) (secret.String, error) {
	return secret.String{}, errNoKeyring
}
