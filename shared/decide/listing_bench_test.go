package decide_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// BenchmarkListing is what GET /v1/models asks, and Auto what signalbox/auto
// does, with 300 models under 100 guardrails of the whole workspace.
func BenchmarkListing(b *testing.B) {
	for _, of := range []struct {
		name  string
		block func(rail, entry int) string
		each  int
	}{
		{"none", nil, 0},
		{"patterns", dense, 10},
		{"unbounded", stars, 256},
		{"ids", func(rail, entry int) string { return fmt.Sprintf("none%d/model-%d", rail, entry) }, 200},
	} {
		in := crowded(of.block, of.each).input(b, decide.Facts{Model: catalog.AutoModel, Key: caller})
		b.Run("Models/"+of.name, func(b *testing.B) {
			for b.Loop() {
				in.Ladder = decide.Climb(&in)
				listed(in)
			}
		})
		b.Run("Auto/"+of.name, func(b *testing.B) {
			for b.Loop() {
				in.Ladder = decide.Climb(&in)
				decide.Decide(in)
			}
		})
	}
}

// listed is how many pairs of a model and a surface can be used.
func listed(in decide.Input) (n int) {
	models := in.Catalog.Models()
	for i := range models {
		for _, offers := range decide.Usable(in, &models[i], catalog.Surfaces()) {
			if len(offers) > 0 {
				n++
			}
		}
	}
	return n
}

// dense has as many stars as a pattern may, of which the last alone does not
// match: nothing tells it from a match before.
func dense(rail, entry int) string { return fmt.Sprintf("a*m*/*o*e*-*z%d.%d*", rail, entry) }

// stars is what was legal once.
func stars(rail, entry int) string {
	return strings.Repeat("*", 180) + fmt.Sprintf("%d.%d", rail, entry)
}

// crowded is 300 models under guardrails that block what block says.
func crowded(block func(rail, entry int) string, each int) *world {
	w := &world{settings: policy.DefaultSettings(), health: health{}, catalog: catalog.Catalog{Schema: catalog.Schema}}
	w.catalog.Providers = []catalog.Provider{provider("north", nil)}
	for i := range 300 {
		w.catalog.Models = append(w.catalog.Models, model(fmt.Sprintf("acme%d/some-model-name-%d", i%9, i), "north 0.1 0.2"))
	}
	ids := id.SystemSource()
	for rail := range policy.MaxGuardrails {
		if each == 0 {
			break
		}
		var rules policy.GuardrailRules
		for entry := range each {
			rules.Models.Block = append(rules.Models.Block, block(rail, entry))
		}
		w.guards = append(w.guards, policy.Guardrail{ID: id.New[id.GuardrailKind](ids), Rules: rules, Workspace: true})
	}
	return w
}
