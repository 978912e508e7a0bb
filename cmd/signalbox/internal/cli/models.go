package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// maxModels bounds how much of a gateway's answer is read, in bytes.
const maxModels = 64 << 20

func (a *app) models() *cobra.Command {
	c := &cobra.Command{Use: "models", Short: "List the models that an API key may use, as its gateway says", Args: cobra.NoArgs}
	c.AddCommand(a.modelsAlerts())
	surface := c.Flags().String("surface", "", "only models that serve this surface, such as chat")
	author := c.Flags().String("author", "", "only models of this author")
	c.RunE = func(c *cobra.Command, _ []string) error {
		query := url.Values{}
		for name, text := range map[string]string{"surface": *surface, "author": *author} {
			if text != "" {
				query.Set(name, text)
			}
		}
		body, err := a.gatewayGet(c.Context(), "/v1/models", query)
		if err != nil {
			return err
		}
		var list struct {
			Data []struct {
				ID        string   `json:"id"`
				Context   int      `json:"context_length"`
				Providers []string `json:"providers"`
			} `json:"data"`
		}
		if err := json.Unmarshal(body, &list); err != nil {
			return fmt.Errorf("the gateway's answer is not a list of models: %w", err)
		}
		return a.showBody(body, func(t *table) {
			if len(list.Data) == 0 {
				t.row("No models: this key, or the filter, allows none, or no provider of the catalog has a key.")
				return
			}
			t.row("MODEL", "CONTEXT", "PROVIDERS")
			for _, m := range list.Data {
				t.row(m.ID, tokens(m.Context), strings.Join(m.Providers, ","))
			}
		})
	}
	return c
}

// tokens shows a length that may be unknown.
func tokens(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// gatewayGet calls the inference API with the API key.
func (a *app) gatewayGet(ctx context.Context, path string, query url.Values) ([]byte, error) {
	return a.askGateway(ctx, http.MethodGet, path, query, nil)
}

// askGateway calls the inference API with the API key; a body is JSON.
func (a *app) askGateway(ctx context.Context, method, path string, query url.Values, sent []byte) ([]byte, error) {
	base, key, err := a.inference()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, base+path+"?"+query.Encode(), bytes.NewReader(sent))
	if err != nil {
		return nil, misuse("the URL of the gateway cannot be used")
	}
	request.Header.Set("Authorization", "Bearer "+key.Reveal())
	request.Header.Set("User-Agent", "signalbox/"+a.Version)
	if len(sent) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := a.HTTP.Do(request)
	if err != nil {
		return nil, unreachable{err}
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxModels))
	if err != nil {
		return nil, unreachable{err}
	}
	if response.StatusCode != http.StatusOK {
		return nil, later(gatewayRefusal(response.StatusCode, body), response.Header)
	}
	return body, nil
}

// gatewayRefusal reads the OpenAI-style envelope of the inference API.
func gatewayRefusal(status int, body []byte) error {
	var envelope struct {
		Error struct {
			Message   string  `json:"message"`
			Code      string  `json:"code"`
			Reason    *string `json:"reason"`
			RequestID string  `json:"request_id"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &envelope) != nil || envelope.Error.Code == "" {
		return refused(status, nil)
	}
	e := refusal{status: status}
	e.problem.Detail, e.problem.Code = envelope.Error.Message, envelope.Error.Code
	e.problem.Reason, e.problem.RequestID = envelope.Error.Reason, envelope.Error.RequestID
	return e
}
