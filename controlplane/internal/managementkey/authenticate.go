package managementkey

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/credential"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// TouchEvery bounds how often the use of a key is written.
const TouchEvery = time.Minute

// Authenticate recognizes a presented credential and returns the key and the
// membership that it acts with. It fails with unauthorized and a reason. An
// unknown kid and a wrong secret are alike in text and in the work done;
// revoked and expired are said only when the secret matched. When the look-up
// is impossible it fails with unavailable, never unauthorized.
func (s *Service) Authenticate(ctx context.Context, token secret.Token) (Key, workspace.Member, error) {
	if token.Kind != secret.Management {
		return Key{}, workspace.Member{}, refuse(fault.InferenceKeyNotValidHere,
			"This is an inference key. The management API needs a management key (sb_mk_v1_…).")
	}
	var k Key
	var m workspace.Member
	err := s.d.System.Read(ctx, func(ctx context.Context) (err error) {
		k, m, err = s.d.Directory.ByKID(ctx, token.KID)
		return err
	})
	unknown := fault.Is(err, fault.NotFound)
	if err != nil && !unknown {
		return Key{}, workspace.Member{}, err
	}
	now := s.now()
	// Both hashes are compared in every case, so that time tells nothing.
	current, previous := token.Matches(k.SecretHash), token.Matches(k.PreviousHash)
	inGrace := k.PreviousUntil != nil && now.Before(*k.PreviousUntil)
	if unknown || (!current && (!previous || !inGrace)) {
		return Key{}, workspace.Member{}, refuse(fault.InvalidKey, "The management key is not valid.")
	}
	switch {
	case k.Status == policy.KeyRevoked, m.User.IsZero():
		return Key{}, workspace.Member{}, refuse(fault.KeyRevoked, "The management key was revoked.")
	case k.Effective(now) == credential.Expired:
		return Key{}, workspace.Member{}, refuse(fault.KeyExpired, "The management key has expired.")
	}
	return s.touched(ctx, k, now), m, nil
}

// touched notes the use now and then. A failure to note it refuses nobody.
func (s *Service) touched(ctx context.Context, k Key, now time.Time) Key {
	if k.LastUsedAt != nil && now.Sub(*k.LastUsedAt) < TouchEvery {
		return k
	}
	err := s.d.System.InTx(ctx, func(ctx context.Context) error { return s.d.Directory.Touch(ctx, k.ID, now) })
	if err != nil {
		s.d.Log.WarnContext(ctx, "the use of a management key was not noted", slog.Any("error", err))
		return k
	}
	k.LastUsedAt = &now
	return k
}

func refuse(reason fault.Reason, message string) error {
	return fault.New(fault.Unauthorized, message).Because(reason)
}
