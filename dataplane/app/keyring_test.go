package app

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

// made makes what it is.
type made string

func (m made) Make([]byte, ...string) (string, error) {
	if m == "" {
		return "", errors.New("no key")
	}
	return string(m), nil
}

// secrets are those that were taken.
type secrets []string

func (s *secrets) Rekey(secret []byte) { *s = append(*s, string(secret)) }

// Names without a secret can be tried out by whoever reads them.
func TestConversationsAreNeverNamedWithoutTheSecretThatThereShouldBe(t *testing.T) {
	var taken secrets
	var log bytes.Buffer
	for _, ring := range []made{"first", "", "second"} {
		rekey(&taken, ring, slog.New(slog.NewTextHandler(&log, nil)))
	}
	require.Equal(t, secrets{"first", "second"}, taken, "the one that is held stays")
	require.Contains(t, log.String(), "no key")

	secret, err := secretOf(made(""))
	require.Error(t, err, "a gateway does not start so")
	require.Empty(t, secret)
	secret, err = (&App{}).conversationSecret()
	require.NoError(t, err)
	require.Nil(t, secret, "without a keyring there is none")
}
