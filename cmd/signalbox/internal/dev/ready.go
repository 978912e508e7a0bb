package dev

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// readyWithin bounds the start; a process that needs longer is stuck.
const readyWithin = 60 * time.Second

// awaitReady returns once every URL answers /readyz with 200. When that does
// not happen in time, the error says what each missing process still lacks.
func awaitReady(ctx context.Context, urls ...string) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for _, url := range urls {
		if err := awaitOne(ctx, url); err != nil {
			return err
		}
	}
	return nil
}

func awaitOne(ctx context.Context, url string) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	last := "it does not answer"
	for {
		ready, detail := probe(ctx, url)
		if ready {
			return nil
		}
		if detail != "" {
			last = detail
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %s", url, last)
		case <-tick.C:
		}
	}
}

// probe asks once and tells which checks fail.
func probe(ctx context.Context, url string) (ready bool, detail string) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz?verbose", nil)
	if err != nil {
		return false, err.Error()
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, ""
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return false, ""
	}
	return response.StatusCode == http.StatusOK, failing(body)
}

// failing names the checks of a readiness answer that are not ok.
func failing(body []byte) string {
	var answer struct {
		Checks []struct {
			Name   string `json:"name"`
			OK     bool   `json:"ok"`
			Detail string `json:"detail"`
		} `json:"checks"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return ""
	}
	var missing []string
	for _, c := range answer.Checks {
		if !c.OK {
			missing = append(missing, strings.TrimSpace(c.Name+" "+c.Detail))
		}
	}
	return strings.Join(missing, "; ")
}
