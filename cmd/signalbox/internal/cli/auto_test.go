package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
)

func TestAuto(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	term.run("auto", "get").is(cli.ExitOK).shows("balanced", "standard", "version")
	term.run("auto", "set", "objective=cost", "spend_profile=custom", "prices=0.25,2", "models=openai/*,anthropic/*", "allow_fallbacks=no").
		is(cli.ExitOK).shows("cost", "custom", "0.25,2.00", "openai/*,anthropic/*")
	got := term.run("auto", "get", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)
	require.Equal(t, map[string]any{
		"version": 2.0, "objective": "cost", "spend_profile": "custom", "prices": map[string]any{"input": "0.25", "output": "2.00"},
		"models": []any{"openai/*", "anthropic/*"}, "allow_fallbacks": false,
	}, got)
	term.run("auto", "set", "models=null").is(cli.ExitOK)
	require.Empty(t, term.run("auto", "get", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)["models"])
	for _, pair := range []string{"objective", "prices=1", "allow_fallbacks=perhaps", "shade=red"} {
		term.run("auto", "set", pair).is(cli.ExitUsage)
	}
	require.Contains(t, term.run("auto", "set", "shade=red").err, "allow_fallbacks, models, objective, prices, spend_profile")
	require.Contains(t, term.run("auto", "set", "spend_profile=any", "prices=1,2").is(cli.ExitUsage).err, "prices: needs spend_profile custom")
}
