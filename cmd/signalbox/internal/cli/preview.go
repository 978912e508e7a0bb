package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/shared/decide"
)

// maxBody is the largest request that a gateway takes, in bytes.
const maxBody = 16 << 20

func (a *app) preview() *cobra.Command {
	c := &cobra.Command{
		Use: "preview -f FILE", Short: "Tell where a request would go, without sending it", Args: cobra.NoArgs,
		Long: `Tell where a request would go, without sending it: the models and endpoints in the order in which they would be
tried, what was excluded and why, which rung of the policy each rule comes from, and the refusal it would get.
It is told for the API key of SIGNALBOX_API_KEY (or else of dev.json), with its models, profile and guardrails: set
it to another key to see what that key gets. No provider is called and nothing is counted. FILE is the body that an
application would send; - reads it from the standard input.`,
	}
	file := c.Flags().StringP("file", "f", "", "the request's body, or - for the standard input")
	surface := c.Flags().String("surface", "chat", "whose body it is: chat, responses, messages, gemini or completions")
	model := c.Flags().String("model", "", "the model, where the path names it rather than the body (gemini)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *file == "" {
			return misuse("name the request's body with -f FILE, or -f - for the standard input")
		}
		sent, err := a.input(*file)
		if err != nil {
			return err
		}
		query := url.Values{"surface": {*surface}}
		if *model != "" {
			query.Set("model", *model)
		}
		body, err := a.askGateway(c.Context(), http.MethodPost, "/v1/routing/preview", query, sent)
		if err != nil {
			return err
		}
		if a.output != "table" {
			return a.showBody(body, nil)
		}
		return foretell(a.Stdout, body)
	}
	return c
}

// input reads a file, or the standard input.
func (a *app) input(file string) ([]byte, error) {
	from := a.Stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, misuse("the file cannot be read: %s", reasonOf(err))
		}
		defer func() { _ = f.Close() }()
		from = f
	}
	if from == nil {
		return nil, misuse("there is no standard input to read")
	}
	text, err := io.ReadAll(io.LimitReader(from, maxBody+1))
	switch {
	case err != nil:
		return nil, misuse("the file cannot be read: %s", reasonOf(err))
	case len(text) > maxBody:
		return nil, misuse("the file is larger than 16 MiB, the most that a gateway takes")
	}
	return text, nil
}

// reasonOf is an error of the file system without the path, which the caller
// knows.
func reasonOf(err error) string {
	if failure, ok := errors.AsType[*os.PathError](err); ok {
		return failure.Err.Error()
	}
	return err.Error()
}

// foretold is the part of a preview that the decision's record does not hold.
type foretold struct {
	Surface string `json:"surface"`
	Chain   []struct {
		Model      string `json:"model"`
		Candidates []struct {
			Provider    string               `json:"provider"`
			Credentials []foretoldCredential `json:"credentials"`
		} `json:"candidates"`
	} `json:"chain"`
	MaxAttempts int `json:"max_attempts"`
	Refusal     *struct {
		Status  int    `json:"status"`
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"refusal"`
	Decision decide.Record `json:"decision"`
}

// foretoldCredential is a provider key that would be used.
type foretoldCredential struct {
	Source decide.CredentialSource `json:"source"`
	ID     string                  `json:"id"` // of a workspace's own
}

// ownFirst are the workspace's own keys, by provider, with which a call of the
// first model would begin; told once for each provider.
func (v *foretold) ownFirst() []string {
	var told []string
	for _, c := range v.Chain[0].Candidates {
		if len(c.Credentials) == 0 || c.Credentials[0].Source != decide.CredentialBYOK {
			continue
		}
		text := c.Credentials[0].ID + " at " + c.Provider
		if !slices.Contains(told, text) {
			told = append(told, text)
		}
	}
	return told
}

// foretell tells a preview as explain tells what happened.
func foretell(w io.Writer, body []byte) error {
	var answer struct {
		Data foretold `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("the gateway's answer is not a preview: %w", err)
	}
	v := answer.Data
	s := &story{w: w}
	switch r := v.Refusal; {
	case r != nil:
		s.line("This request would be refused with status %d: %s", r.Status, clean(r.Message))
	case len(v.Chain) == 0:
		return errors.New("the gateway's answer is not a preview: it has neither a model nor a refusal")
	default:
		providers := make([]string, 0, len(v.Chain))
		for _, c := range v.Chain[0].Candidates {
			providers = append(providers, c.Provider)
		}
		s.line("This request would go to %s, tried at %s.", clean(v.Chain[0].Model), clean(strings.Join(providers, ", then ")))
		if v.Decision.Ordering == decide.Sampled {
			s.line("The order is drawn for each request; the shares below say how often each is first.")
		}
		if own := v.ownFirst(); len(own) > 0 {
			s.line("The workspace's own keys come first: %s.", clean(strings.Join(own, ", ")))
		}
		s.line("At most %d upstream calls are made.", v.MaxAttempts)
	}
	s.policy(v.Decision)
	s.auto(v.Decision)
	s.affinity(v.Decision)
	s.decided(v.Decision)
	return s.err
}
