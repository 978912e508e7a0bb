package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/tidwall/gjson"
)

// deploys deploys two versions of a dynamic route in turn. The route is attached
// to the key that every gateway holds.
func (p *publisher) deploys(ctx context.Context, times int) error {
	made, err := p.change(ctx, http.MethodPost, "", map[string]any{"name": "bench", "config": benchGraph("balanced")})
	if err != nil {
		return err
	}
	route := "/" + made.Get("data.id").Str
	if _, err := p.change(ctx, http.MethodPost, route+"/versions", map[string]any{"config": benchGraph("price")}); err != nil {
		return err
	}
	if _, err := p.change(ctx, http.MethodPut, route+"/keys", map[string]any{"key_ids": []string{p.held.ID}}); err != nil {
		return err
	}
	for i := range times {
		began := time.Now()
		done, err := p.change(ctx, http.MethodPost, route+"/versions/"+strconv.Itoa(1+i%2)+"/deploy", nil)
		if err != nil {
			return err
		}
		p.deployed = append(p.deployed, time.Since(began))
		receipts, err := p.w.Receipts(ctx, done.Get("publication.id").Str)
		if err != nil {
			return err
		}
		p.received = append(p.received, time.Duration(receipts.Get("p99_ms").Float()*float64(time.Millisecond)))
	}
	return nil
}

// change changes dynamic routes and waits until every gateway has it.
func (p *publisher) change(ctx context.Context, method, path string, body any) (answer gjson.Result, err error) {
	var raw json.RawMessage
	if body != nil {
		if raw, err = json.Marshal(body); err != nil {
			return answer, fmt.Errorf("encode: %w", err)
		}
	}
	got, err := p.w.Manage(ctx, method, "/v1/routing/dynamic-routes"+path+"?wait="+publishWithin.String(), raw)
	if err != nil {
		return answer, err
	}
	if pending := got.Get("publication.pending").Int(); pending > 0 {
		return answer, fmt.Errorf("%d gateways did not apply a change of the route within %s", pending, publishWithin)
	}
	return gjson.ParseBytes(got.Body), nil
}

// benchGraph is a graph of a dynamic route with a routing mode.
func benchGraph(mode string) map[string]any {
	return map[string]any{"schema_version": 1, "entry": "start", "nodes": []map[string]any{
		{"id": "start", "type": "start", "next": "model"},
		{"id": "model", "type": "model", "model": "bench/small", "routing_mode": mode, "next": "end"},
		{"id": "end", "type": "end"},
	}}
}
