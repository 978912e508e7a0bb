package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/signalbox-dev/signalbox/controlplane/internal/idempotency"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Headers of Idempotency-Key.
const (
	headerKey      = "Idempotency-Key"
	headerReplayed = "Idempotency-Replayed"
)

// replay runs a mutation with an Idempotency-Key at most once and answers a
// repeated one from the first answer, after it waited as it was asked to.
func (s *Server) replay(c *gin.Context) {
	key := c.GetHeader(headerKey)
	if key == "" || !isMutation(c.Request.Method) {
		return
	}
	ctx := c.Request.Context()
	claim, earlier, err := s.services.Idempotency.Reserve(ctx, fingerprint(c, key))
	switch {
	case err != nil:
		s.fail(c, err)
		return
	case earlier != nil:
		s.resettle(c, earlier)
		for name, text := range earlier.Header {
			c.Header(name, text)
		}
		c.Header(headerReplayed, "true")
		c.Abort()
		c.Data(earlier.Status, earlier.Header["Content-Type"], earlier.Body)
		return
	}
	c.Request = c.Request.WithContext(idempotency.WithClaim(ctx, claim))
	copied := &copyingWriter{ResponseWriter: c.Writer}
	c.Writer = copied
	answered := false
	defer func() {
		// Also after a panic, whose claim is given back unless its change was committed.
		s.conclude(ctx, claim, copied, answered)
	}()
	c.Next()
	answered = true
}

// conclude keeps the answer of a call that was carried out, and gives the
// claim of any other back. The caller's going away must not undo that.
func (s *Server) conclude(ctx context.Context, claim idempotency.Claim, answer *copyingWriter, answered bool) {
	ctx, cancel := txn.Afterwards(ctx)
	defer cancel()
	var err error
	if status := answer.Status(); answered && status >= http.StatusOK && status < http.StatusMultipleChoices {
		header := map[string]string{"Content-Type": answer.Header().Get("Content-Type")}
		if tag := answer.Header().Get("ETag"); tag != "" {
			header["ETag"] = tag
		}
		var body []byte
		if body, err = withoutSecrets(answer.body.Bytes()); err == nil {
			err = s.services.Idempotency.Complete(ctx, claim, idempotency.Answer{Status: status, Header: header, Body: body})
		}
	} else {
		err = s.services.Idempotency.Release(ctx, claim)
	}
	if err != nil {
		s.log.WarnContext(ctx, "the answer for an idempotency key was not kept", slog.String("error", err.Error()))
	}
}

// fingerprint identifies the call: the same key must mean the same method,
// path and body. The time to wait for receipts is no part of what is asked.
func fingerprint(c *gin.Context, key string) idempotency.Request {
	who := callerOf(c.Request.Context())
	query := c.Request.URL.Query()
	query.Del("wait")
	sum := sha256.New()
	for _, part := range [][]byte{
		[]byte(c.Request.Method), []byte(c.Request.URL.Path), []byte(query.Encode()),
		[]byte(c.GetHeader("If-Match")), bodyOf(c),
	} {
		_, _ = sum.Write(part)
		_, _ = sum.Write([]byte{0})
	}
	r := idempotency.Request{Workspace: who.Workspace, Actor: "operator", Key: key, Hash: [sha256.Size]byte(sum.Sum(nil))}
	if !who.Operator {
		r.Actor = who.Key.String()
	}
	return r
}

func bodyOf(c *gin.Context) []byte {
	body, _ := c.Get(bodyKey)
	b, _ := body.([]byte)
	return b
}

// copyingWriter keeps what the handler answers.
type copyingWriter struct {
	gin.ResponseWriter
	body bytes.Buffer
}

// Write implements io.Writer.
func (w *copyingWriter) Write(p []byte) (int, error) {
	w.body.Write(p)
	return w.ResponseWriter.Write(p)
}

// WriteString implements io.StringWriter.
func (w *copyingWriter) WriteString(text string) (int, error) {
	w.body.WriteString(text)
	return w.ResponseWriter.WriteString(text)
}

// withoutSecrets drops every field that holds a credential, wherever it is.
func withoutSecrets(body []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var answer any
	if err := decoder.Decode(&answer); err != nil {
		return nil, err
	}
	strip(answer)
	return json.Marshal(answer)
}

func strip(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, field := range v {
			if text, ok := field.(string); ok {
				if secret.Issued(text) {
					delete(v, name)
				}
				continue
			}
			strip(field)
		}
	case []any:
		for _, item := range v {
			strip(item)
		}
	}
}
