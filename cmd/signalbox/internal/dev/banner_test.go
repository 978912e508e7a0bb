package dev

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the banner says of the command line holds: it finds a folder of one name
// by itself, and for every other one needs to be told.
func TestTheBannerTellsHowTheCommandLineFindsThePlatform(t *testing.T) {
	access := Access{
		GatewayURL: "http://127.0.0.1:1", ControlURL: "http://127.0.0.1:2", APIKey: "sb_v1_a", ManagementKey: "sb_mk_v1_b", OperatorToken: "token",
		DatabaseURL: "postgres://postgres@/signalbox?host=%2Fsrv&port=5432",
	}
	told := func(data string) string {
		var out strings.Builder
		o := Default()
		o.Data, o.Program = data, "bin/signalbox"
		require.NoError(t, banner(&out, access, o, []string{access.GatewayURL}, nil))
		return out.String()
	}
	found := told(filepath.Join("/srv", "gateway", Folder))
	require.Contains(t, found, "In /srv/gateway and the folders below it, the CLI finds everything by itself")
	require.NotContains(t, found, "export ")

	other := told("/srv/elsewhere")
	require.NotContains(t, other, "by itself")
	for _, line := range []string{
		"  export SIGNALBOX_CONTROL_URL=http://127.0.0.1:2\n", "  export SIGNALBOX_GATEWAY_URL=http://127.0.0.1:1\n",
		"  export SIGNALBOX_MANAGEMENT_KEY=sb_mk_v1_b\n", "  export SIGNALBOX_API_KEY=sb_v1_a\n", "  export SIGNALBOX_OPERATOR_TOKEN=token\n",
		"  export SIGNALBOX_DATABASE_URL='postgres://postgres@/signalbox?host=%2Fsrv&port=5432'\n",
	} {
		require.Contains(t, other, line)
	}
}

// No classifier is paid for unless somebody names one.
func TestNoModelClassifiesUnlessItIsNamed(t *testing.T) {
	for given, want := range map[string]string{"": "off", "openai/gpt-5-nano": "openai/gpt-5-nano", "off": "off"} {
		g := ground{env: func(name string) (string, bool) {
			return given, name == "SIGNALBOX_AUTO_CLASSIFIER_MODEL" && given != ""
		}}
		cfg := gatewayConfig(Default(), g, "127.0.0.1:0", 0)
		require.Equal(t, want, cfg.Auto.ClassifierModel)
		require.NoError(t, cfg.Validate())
	}
}
