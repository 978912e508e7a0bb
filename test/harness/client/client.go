// Package client speaks to a running platform over HTTP, in the words of the
// product. It is written against the published contracts and must not import
// the product's own clients, whose mistakes it would share.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/tidwall/gjson"
)

// Platform is where a running platform answers.
type Platform struct {
	Control  string   // http://host:port
	Gateways []string // the same, of each gateway
	Operator string   // the operator token
	HTTP     *http.Client
}

// Answer is one HTTP answer, read whole.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Get reads a member of the JSON body by its gjson path.
func (a Answer) Get(path string) gjson.Result { return gjson.GetBytes(a.Body, path) }

// Problem is a management call that failed.
type Problem struct {
	Method, Path string
	Answer       Answer
}

// Error names the call, the status and the code.
func (p *Problem) Error() string {
	return fmt.Sprintf("%s %s: %d %s: %s", p.Method, p.Path, p.Answer.Status, p.Answer.Get("code"), p.Answer.Get("detail"))
}

// Call is one HTTP request.
type Call struct {
	Method string
	URL    string
	Bearer string
	Header http.Header
	Body   []byte
}

// Do sends a call and reads the answer whole, whatever its status.
func (p Platform) Do(ctx context.Context, c Call) (Answer, error) {
	resp, err := p.Open(ctx, c)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	answer := Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}
	if err != nil {
		return answer, fmt.Errorf("read the answer of %s %s: %w", c.Method, c.URL, err)
	}
	return answer, nil
}

// Open sends a call and leaves the body to the caller, who closes it.
func (p Platform) Open(ctx context.Context, c Call) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, c.Method, c.URL, bytes.NewReader(c.Body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	for name, values := range c.Header {
		req.Header[name] = values
	}
	if c.Bearer != "" {
		req.Header.Set("Authorization", "Bearer "+c.Bearer)
	}
	if len(c.Body) > 0 && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := p.HTTP.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", c.Method, c.URL, err)
	}
	return resp, nil
}

// manage makes a management call; anything but a 2xx is a *Problem.
func (p Platform) manage(ctx context.Context, bearer, method, path string, body any) (Answer, error) {
	c := Call{Method: method, URL: p.Control + path, Bearer: bearer}
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return Answer{}, fmt.Errorf("encode: %w", err)
		}
		c.Body = raw
	}
	answer, err := p.Do(ctx, c)
	if err != nil {
		return answer, err
	}
	if answer.Status < http.StatusOK || answer.Status >= http.StatusMultipleChoices {
		return answer, &Problem{Method: method, Path: path, Answer: answer}
	}
	return answer, nil
}

// AwaitReady waits until url answers 200, or ctx ends.
func (p Platform) AwaitReady(ctx context.Context, url string) error {
	const every = 20 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()
	var last error
	for {
		answer, err := p.Do(ctx, Call{Method: http.MethodGet, URL: url})
		if err == nil && answer.Status == http.StatusOK {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("status %d: %.300s", answer.Status, answer.Body)
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w", url, last)
		}
	}
}
