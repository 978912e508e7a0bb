package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/config"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// devFile is what `signalbox dev` writes about itself.
type devFile struct {
	GatewayURL    string        `json:"gateway_url"`
	ControlURL    string        `json:"control_url"`
	APIKey        secret.String `json:"api_key"`
	ManagementKey secret.String `json:"management_key"`
	OperatorToken secret.String `json:"operator_token"`
	DatabaseURL   secret.String `json:"database_url"`
}

// management returns a client of the control plane that acts with the
// management key.
func (a *app) management() (*client.ClientWithResponses, error) {
	dev, err := a.findDev()
	if err != nil {
		return nil, err
	}
	key, err := a.credential("management key", config.EnvManagementKey, dev.ManagementKey)
	if err != nil {
		return nil, err
	}
	return a.connect(dev, key)
}

// operator is management with the operator token.
func (a *app) operator() (*client.ClientWithResponses, error) {
	dev, err := a.findDev()
	if err != nil {
		return nil, err
	}
	token, err := a.credential("operator token", config.EnvOperatorToken, dev.OperatorToken)
	if err != nil {
		return nil, err
	}
	return a.connect(dev, token)
}

func (a *app) connect(dev devFile, credential secret.String) (*client.ClientWithResponses, error) {
	base, err := address("control plane", "--control-url", config.EnvControlURL, a.controlURL, a.Getenv(config.EnvControlURL), dev.ControlURL)
	if err != nil {
		return nil, err
	}
	return client.NewClientWithResponses(base, client.WithHTTPClient(limited{a.HTTP}),
		client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+credential.Reveal())
			r.Header.Set("User-Agent", "signalbox/"+a.Version)
			return nil
		}))
}

// inference returns where the gateway is and the API key to use.
func (a *app) inference() (string, secret.String, error) {
	dev, err := a.findDev()
	if err != nil {
		return "", secret.String{}, err
	}
	base, err := address("gateway", "--gateway-url", config.EnvGatewayURL, a.gatewayURL, a.Getenv(config.EnvGatewayURL), dev.GatewayURL)
	if err != nil {
		return "", secret.String{}, err
	}
	key, err := a.credential("API key", config.EnvAPIKey, dev.APIKey)
	return base, key, err
}

// address is the first candidate that is given. The /v1 of a base URL, as SDKs
// want it, is let pass.
func address(what, flag, variable string, candidates ...string) (string, error) {
	for _, text := range candidates {
		if text == "" {
			continue
		}
		u, err := url.Parse(text)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return "", misuse("the URL of the %s must be like http://HOST:PORT", what)
		}
		return strings.TrimSuffix(strings.TrimSuffix(text, "/"), "/v1"), nil
	}
	return "", misuse("where is the %s? Give %s or set %s, or run this where `signalbox dev` keeps its data", what, flag, variable)
}

// credential is the variable, else the content of the file that variable_FILE
// names, else what dev.json has.
func (a *app) credential(what, variable string, dev secret.String) (secret.String, error) {
	if text := a.Getenv(variable); text != "" {
		return secret.NewString(text), nil
	}
	if path := a.Getenv(variable + config.FileSuffix); path != "" {
		body, err := os.ReadFile(path)
		if err != nil {
			return secret.String{}, fmt.Errorf("read the %s that %s_FILE names: %w", what, variable, err)
		}
		return secret.NewString(strings.TrimSpace(string(body))), nil
	}
	if dev.IsZero() {
		return secret.String{}, errNoCredential{what, variable}
	}
	return dev, nil
}

// findDev reads the nearest .signalbox/dev.json at or above Dir. There may be
// none.
func (a *app) findDev() (devFile, error) {
	var dev devFile
	for dir := a.Dir; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, ".signalbox", "dev.json")
		body, err := os.ReadFile(path)
		switch {
		case err == nil:
			if err := json.Unmarshal(body, &dev); err != nil {
				return dev, fmt.Errorf("%s is not readable; start `signalbox dev` again to write it anew", path)
			}
			return dev, nil
		case !errors.Is(err, fs.ErrNotExist):
			return dev, fmt.Errorf("read %s: %w", path, err)
		case dir == filepath.Dir(dir):
			return dev, nil
		}
	}
}
