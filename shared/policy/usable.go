package policy

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/fault"
)

// Refusal is what every request of the key gets for the key's state alone; nil
// for one that may be used.
func (k *Key) Refusal(now time.Time) *fault.Error {
	refused := func(reason fault.Reason, message string) *fault.Error {
		return fault.New(fault.Unauthorized, message).Because(reason)
	}
	switch {
	case k.Status == KeyRevoked:
		return refused(fault.KeyRevoked, "The API key was revoked. Use another one.")
	case k.Status == KeyPaused:
		return refused(fault.KeyPaused, "The API key is paused. Resume it, or use another one.")
	case k.ExpiresAt != nil && !now.Before(*k.ExpiresAt):
		return refused(fault.KeyExpired, "The API key has expired. Use another one.")
	}
	return nil
}
