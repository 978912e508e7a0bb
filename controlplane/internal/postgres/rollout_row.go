package postgres

import (
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout/tally"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
)

type rolloutRow struct {
	ID          uuid.UUID                       `gorm:"column:id;primaryKey"`
	WorkspaceID uuid.UUID                       `gorm:"column:workspace_id"`
	RouteID     uuid.UUID                       `gorm:"column:route_id"`
	Candidate   int                             `gorm:"column:candidate"`
	Stable      int                             `gorm:"column:stable"`
	Steps       jsonColumn[[]rolloutStepRow]    `gorm:"column:steps"`
	Guard       jsonColumn[rolloutGuardRow]     `gorm:"column:guard"`
	State       string                          `gorm:"column:state"`
	Step        int                             `gorm:"column:step"`
	StepBeganAt time.Time                       `gorm:"column:step_began_at"`
	Evidence    jsonColumn[*rolloutEvidenceRow] `gorm:"column:evidence"`
	CreatedBy   *uuid.UUID                      `gorm:"column:created_by"`
	CreatedAt   time.Time                       `gorm:"column:created_at;autoCreateTime:false"`
	UpdatedAt   time.Time                       `gorm:"column:updated_at;autoUpdateTime:false"`
	EndedAt     *time.Time                      `gorm:"column:ended_at"`
	Version     int64                           `gorm:"column:version"`
}

type rolloutStepRow struct {
	Percent flow.Percent  `json:"percent"`
	Hold    time.Duration `json:"hold_ns"`
}

type rolloutGuardRow struct {
	MaxErrorRate    *float64 `json:"max_error_rate,omitempty"`
	MaxLatencyRatio *float64 `json:"max_p95_latency_ratio,omitempty"`
	MaxCostRatio    *float64 `json:"max_cost_ratio,omitempty"`
	MinRequests     int64    `json:"min_requests"`
}

type rolloutEvidenceRow struct {
	Broken    string        `json:"broken,omitempty"`
	Measured  float64       `json:"measured,omitempty"`
	Allowed   float64       `json:"allowed,omitempty"`
	Candidate rolloutArmRow `json:"candidate"`
	Stable    rolloutArmRow `json:"stable"`
}

type rolloutArmRow struct {
	Requests int64         `json:"requests"`
	Failures int64         `json:"failures"`
	P95      time.Duration `json:"p95_ns"`
	Cost     money.Nanos   `json:"cost_nanos"`
}

func (rolloutRow) TableName() string { return "dynamic_route_rollouts" }

func rolloutRowOf(r rollout.Rollout) rolloutRow {
	row := rolloutRow{
		ID: r.ID.UUID(), WorkspaceID: r.Workspace.UUID(), RouteID: r.Route.UUID(), Candidate: r.Candidate, Stable: r.Stable,
		Guard: jsonColumn[rolloutGuardRow]{rolloutGuardRow(r.Guard)}, State: string(r.State), Step: r.Step, StepBeganAt: r.StepBegan,
		CreatedBy: uuidPtr(r.CreatedBy.UUID()), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, EndedAt: r.EndedAt, Version: r.Version,
	}
	for _, s := range r.Steps {
		row.Steps.v = append(row.Steps.v, rolloutStepRow(s))
	}
	if e := r.Evidence; e != nil {
		row.Evidence.v = &rolloutEvidenceRow{
			Broken: string(e.Broken), Measured: e.Measured, Allowed: e.Allowed,
			Candidate: rolloutArmRow(e.Arms.Candidate), Stable: rolloutArmRow(e.Arms.Stable),
		}
	}
	return row
}

func (r rolloutRow) rollout() rollout.Rollout {
	out := rollout.Rollout{
		ID: id.FromUUID[id.RolloutKind](r.ID), Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID),
		Route: id.FromUUID[id.RouteKind](r.RouteID), Candidate: r.Candidate, Stable: r.Stable, Guard: rollout.Guard(r.Guard.v),
		State: rollout.State(r.State), Step: r.Step, StepBegan: r.StepBeganAt.UTC(), CreatedBy: id.FromUUID[id.UserKind](uuidOf(r.CreatedBy)),
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), EndedAt: utc(r.EndedAt), Version: r.Version,
	}
	for _, s := range r.Steps.v {
		out.Steps = append(out.Steps, rollout.Step(s))
	}
	if e := r.Evidence.v; e != nil {
		out.Evidence = &rollout.Evidence{
			Broken: rollout.Limit(e.Broken), Measured: e.Measured, Allowed: e.Allowed,
			Arms: rollout.Arms{Candidate: tally.Arm(e.Candidate), Stable: tally.Arm(e.Stable)},
		}
	}
	return out
}

// changeable are the columns that an update writes.
func (r rolloutRow) changeable() map[string]any {
	return map[string]any{
		"state": r.State, "step": r.Step, "step_began_at": r.StepBeganAt, "evidence": r.Evidence, "updated_at": r.UpdatedAt,
		"ended_at": r.EndedAt, "version": r.Version,
	}
}
