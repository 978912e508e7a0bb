// Package routing owns the rules for the routing fields that a rung of the
// policy ladder sets: which models and providers of the present catalog they
// may name, what contradicts what, and the spelling in which they are kept. It
// knows nothing of who sets them or where they are stored.
package routing

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Codes of the violations made here beside those of rule.
const (
	UnknownModel     = "model_not_found"
	UnknownProvider  = "unknown_provider_slug"
	UnknownPreset    = "preset_not_found"
	DisabledProvider = "provider_disabled"
	Contradiction    = rule.Contradiction
)

// Source gives the catalog that is offered now. It may read the database, so it
// is asked before a transaction is begun, and what it gave is used inside.
type Source interface {
	View(ctx context.Context) (*catalog.View, error)
}

// Checker holds routing fields against a catalog.
type Checker struct {
	offered *catalog.View
	shelf   *Shelf // nil: no preset may be named
}

// NewChecker returns a Checker over what is offered, where no preset may be named.
func NewChecker(offered *catalog.View) *Checker { return &Checker{offered: offered} }

// Naming returns a Checker that lets presets stand for models too. Whoever calls
// it asks the shelf for its error behind the checks.
func (k *Checker) Naming(shelf *Shelf) *Checker { return &Checker{offered: k.offered, shelf: shelf} }

// Check notes everything that is wrong with r, with paths under at, and
// returns r as it is to be kept: providers by their slugs, the region in lower
// case.
func (k *Checker) Check(v *rule.Violations, at string, r policy.Routing) policy.Routing {
	c := k.check(v, at)
	c.modes(r)
	c.providers(&r.Provider)
	c.models(&r)
	c.timeouts(r.Timeouts)
	c.retries(r.Retries)
	return r
}

// CheckModels does so for a default model ("" for none) and fallback models
// alone.
func (k *Checker) CheckModels(v *rule.Violations, at, defaultModel string, fallbacks []string) {
	k.check(v, at).models(&policy.Routing{DefaultModel: defaultModel, FallbackModels: fallbacks})
}

func (k *Checker) check(v *rule.Violations, at string) *check {
	return &check{v: v, at: at, catalog: k.offered, shelf: k.shelf}
}

// check is the state of one Check call.
type check struct {
	v       *rule.Violations
	at      string
	catalog *catalog.View
	shelf   *Shelf

	only, ignore []*catalog.Provider
}

func (c *check) add(path, code, message string) { c.v.Add(c.path(path), code, message) }

func (c *check) path(path string) string {
	if c.at == "" {
		return path
	}
	return c.at + "." + path
}
