package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/idempotency"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// resettle waits for the receipts of a call that is answered again with ?wait,
// and brings the kept answer up to date: the first call may have waited
// shorter, or not at all.
func (s *Server) resettle(c *gin.Context, earlier *idempotency.Answer) {
	wait := c.Query("wait")
	if wait == "" || c.Query("dry_run") == "true" { // of which nothing is on its way
		return
	}
	ctx := c.Request.Context()
	var kept map[string]json.RawMessage
	if json.Unmarshal(earlier.Body, &kept) != nil {
		return
	}
	now, pending, ok := s.settled(ctx, c.Param("workspace_id"), kept["publication"], wait)
	if !ok {
		return
	}
	body, err := json.Marshal(now)
	if err == nil {
		kept["publication"] = body
		body, err = json.Marshal(kept)
	}
	if err != nil { // what is kept still holds
		s.log.WarnContext(ctx, "a kept answer was not brought up to date", slog.String("error", err.Error()))
		return
	}
	earlier.Body = body
	earlier.Status = s.doneStatus(c)
	if pending {
		earlier.Status = http.StatusAccepted
	}
}

// settled waits for the publication that a kept answer names: of a workspace,
// which is the caller's or that of the path, or of the operator's catalog. It
// is not ok where the answer names none.
func (s *Server) settled(ctx context.Context, path string, kept json.RawMessage, wait gen.Wait) (now any, pending, ok bool) {
	var ref struct {
		ID       string `json:"id"`
		Revision int64  `json:"revision"`
		Version  int64  `json:"version"`
	}
	if json.Unmarshal(kept, &ref) != nil {
		return nil, false, false
	}
	if ref.ID == "" {
		if ref.Version == 0 {
			return nil, false, false
		}
		limit, _ := time.ParseDuration(wait) // the contract's pattern admits only what this reads
		revision, behind := catalogRollout{s.services.Overrides, s.services.Gateways, s.log}.await(ctx, ref.Version, limit)
		return gen.CatalogPublication{Version: ref.Version, CatalogRevision: some(revision), Pending: behind}, behind > 0, true
	}
	pub, err := id.Parse[id.PublicationKind](ref.ID)
	if err != nil {
		return nil, false, false
	}
	ws := callerOf(ctx).Workspace
	if ws.IsZero() {
		if ws, err = id.Parse[id.WorkspaceKind](path); err != nil {
			return nil, false, false
		}
	}
	now, pending = s.settle(ctx, publication.Publication{ID: pub, Workspace: ws, Revision: ref.Revision}, &wait)
	return now, pending, true
}

// doneStatus is what the operation answers when nothing is pending.
func (s *Server) doneStatus(c *gin.Context) int {
	if route, ok := s.contract.routes[c.Request.Method+" "+c.FullPath()]; ok && route.Operation.Responses.Status(http.StatusCreated) != nil {
		return http.StatusCreated
	}
	return http.StatusOK
}
