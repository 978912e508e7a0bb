package feed_test

import (
	"errors"

	"github.com/signalbox-dev/signalbox/dataplane/internal/keyring"
)

func isUnknown(err error) bool      { return errors.Is(err, keyring.ErrUnknown) }
func isUndetermined(err error) bool { return errors.Is(err, keyring.ErrUndetermined) }
