// Package routing owns the rules for the routing fields that a rung of the
// policy ladder sets: which models and providers of the present catalog they
// may name, what contradicts what, and the spelling in which they are kept. It
// knows nothing of who sets them or where they are stored.
package routing

import (
	"fmt"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Codes of the violations made here beside those of rule.
const (
	UnknownModel     = "model_not_found"
	UnknownProvider  = "unknown_provider_slug"
	DisabledProvider = "provider_disabled"
	Contradiction    = "contradiction"
)

// Source gives the catalog that is offered now.
type Source interface {
	Catalog() catalog.Catalog
}

// Checker holds routing fields against the catalog of its source.
type Checker struct{ source Source }

// NewChecker returns a Checker over source.
func NewChecker(source Source) *Checker { return &Checker{source: source} }

// Check notes everything that is wrong with r, with paths under at, and
// returns r as it is to be kept: providers by their slugs, the region in lower
// case. Its error is not about r: the catalog could not be read.
func (k *Checker) Check(v *rule.Violations, at string, r policy.Routing) (policy.Routing, error) {
	c, err := k.check(v, at)
	if err != nil {
		return r, err
	}
	c.modes(r)
	c.providers(&r.Provider)
	c.models(&r)
	c.timeouts(r.Timeouts)
	c.retries(r.Retries)
	return r, nil
}

// CheckModels does so for a default model ("" for none) and fallback models
// alone.
func (k *Checker) CheckModels(v *rule.Violations, at, defaultModel string, fallbacks []string) error {
	c, err := k.check(v, at)
	if err == nil {
		c.models(&policy.Routing{DefaultModel: defaultModel, FallbackModels: fallbacks})
	}
	return err
}

func (k *Checker) check(v *rule.Violations, at string) (*check, error) {
	view, err := catalog.Compile(k.source.Catalog())
	if err != nil {
		return nil, fmt.Errorf("read the offered catalog: %w", err)
	}
	return &check{v: v, at: at, catalog: view}, nil
}

// check is the state of one Check call.
type check struct {
	v       *rule.Violations
	at      string
	catalog *catalog.View

	only, ignore []*catalog.Provider
}

func (c *check) add(path, code, message string) { c.v.Add(c.path(path), code, message) }

func (c *check) path(path string) string {
	if c.at == "" {
		return path
	}
	return c.at + "." + path
}
