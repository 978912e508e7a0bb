package dev

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/shared/httpserver"
)

// readyWithin bounds the start; a process that needs longer is stuck.
const readyWithin = 60 * time.Second

// awaitReady returns once every URL answers /readyz with 200 and no check
// fails, not even one that production can do without: on one machine there is
// no reason to begin with an old catalog. When that does not happen in time, the
// error says what is missing.
func awaitReady(ctx context.Context, urls ...string) error {
	for _, url := range urls {
		if err := await(ctx, url, func(ctx context.Context) (bool, string) { return probe(ctx, url+"/readyz?verbose", "") }); err != nil {
			return err
		}
	}
	return nil
}

// awaitKey returns once every gateway accepts the key, which is shortly after
// its publication.
func awaitKey(ctx context.Context, key string, gateways ...string) error {
	for _, url := range gateways {
		if err := await(ctx, url, func(ctx context.Context) (bool, string) {
			ok, _ := probe(ctx, url+"/v1/key", key)
			return ok, "it does not accept the API key yet"
		}); err != nil {
			return err
		}
	}
	return nil
}

// await asks again and again until ready says so.
func await(ctx context.Context, url string, ready func(context.Context) (ok bool, detail string)) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	last := "it does not answer"
	for {
		ok, detail := ready(ctx)
		if ok {
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
func probe(ctx context.Context, url, key string) (ok bool, detail string) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false, err.Error()
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
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
	detail = failing(body)
	return response.StatusCode == http.StatusOK && detail == "", detail
}

// failing names the checks of a readiness answer that are not ok.
func failing(body []byte) string {
	var answer httpserver.Readiness
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
