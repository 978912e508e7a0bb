package dev

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/config"
)

// banner tells a person what runs and what to try. The curl line works as it
// stands.
func banner(w io.Writer, a Access, o Options, gateways, providers []string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\nSignalbox is ready.\n\n")
	fmt.Fprintf(&b, "  Inference API   %s/v1\n", a.GatewayURL)
	for _, url := range gateways[1:] {
		fmt.Fprintf(&b, "                  %s/v1\n", url)
	}
	fmt.Fprintf(&b, "  Management API  %s/v1   (reference: %s/docs)\n", a.ControlURL, a.ControlURL)
	fmt.Fprintf(&b, "  Dashboard       %s\n", a.DashboardURL)
	fmt.Fprintf(&b, "  API key         %s\n", a.APIKey)
	fmt.Fprintf(&b, "  Management key  %s\n", a.ManagementKey)
	fmt.Fprintf(&b, "  Data            %s   (%s in it has all of this while it runs)\n", o.Data, accessFile)
	if !o.NoSimulator {
		fmt.Fprintf(&b, "  Simulated       signalbox-sim/small, claude, gemini, gpt, embed, image, voice, … (%s models lists them)\n", o.Program)
	}
	if len(providers) > 0 {
		fmt.Fprintf(&b, "  Providers       %s   (keys from the environment)\n", strings.Join(providers, ", "))
	}
	if model := tryModel(o); model != "" {
		// One line with the key in it, so that it works wherever it is pasted.
		fmt.Fprintf(&b, "\nTry it in another terminal, and with \"stream\": true:\n\n")
		fmt.Fprintf(&b, "  curl %s/v1/chat/completions -H 'Authorization: Bearer %s' -H 'Content-Type: application/json'", a.GatewayURL, a.APIKey)
		fmt.Fprintf(&b, " -d '{\"model\": \"%s\", \"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}'\n", model)
	}
	findsIt(&b, a, o)
	fmt.Fprintf(&b, "Ctrl-C stops everything, and the next start goes on with the same keys.\n\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// findsIt says how the command line comes to the platform: by itself where it
// looks for dev.json, else by the variables that it reads.
func findsIt(b *strings.Builder, a Access, o Options) {
	if folder, name := filepath.Split(o.Data); name == Folder {
		fmt.Fprintf(b, "\nIn %s and the folders below it, the CLI finds everything by itself: %s models, logs -f, explain, keys.\n",
			filepath.Clean(folder), o.Program)
		return
	}
	fmt.Fprintf(b, "\nThe CLI looks for %s/%s alone. For this platform, tell it in the terminal that you use it from:\n\n", Folder, accessFile)
	for _, v := range [...]struct{ name, value string }{
		{config.EnvControlURL, a.ControlURL},
		{config.EnvGatewayURL, a.GatewayURL},
		{config.EnvManagementKey, a.ManagementKey},
		{config.EnvAPIKey, a.APIKey},
		{config.EnvOperatorToken, a.OperatorToken},
	} {
		fmt.Fprintf(b, "  export %s=%s\n", v.name, v.value)
	}
	if a.DatabaseURL != "" {
		fmt.Fprintf(b, "  export %s='%s'\n", config.Prefix+"DATABASE_URL", a.DatabaseURL)
	}
	fmt.Fprintf(b, "\nThen: %s models, logs -f, explain, keys.\n", o.Program)
}

func tryModel(o Options) string {
	if o.NoSimulator {
		return ""
	}
	return "signalbox-sim/small"
}
