package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// report writes the tables of docs/routing.md.
func (s *simulation) report(w io.Writer, results []result) error {
	var b strings.Builder
	best := &results[len(results)-1]
	n := float64(len(s.all))
	fmt.Fprintf(&b, "%d requests in %s, seed %d.\n\n", len(s.all), s.scene.length, s.scene.seed)
	b.WriteString("| policy | cost per answer, USD | of that tokens | whole answer | attempts each | unanswered | regret |\n|---|---|---|---|---|---|---|\n")
	for i := range results {
		r := &results[i]
		total := 0.0
		for _, c := range r.costs {
			total += c
		}
		fmt.Fprintf(&b, "| %s | %.5f | %.5f | %.1f s | %.3f | %d | %s |\n", r.policy, total/n/1e9, r.spent/n/1e9, r.waited/n,
			float64(r.attempts)/n, r.unanswered, percent(s.regret(r, best, 0, s.scene.length)))
	}
	b.WriteString("\n| event | policy | share before | left after | share meanwhile | returned after | regret meanwhile |\n|---|---|---|---|---|---|---|\n")
	for _, e := range s.scene.events {
		for i := range results {
			r := &results[i]
			what := s.reaction(r, e)
			left, back := moment(what.left), moment(what.back)
			if !e.worse || what.before < 0.05 {
				left, back = "–", "–"
			}
			fmt.Fprintf(&b, "| %s, %s | %s | %s | %s | %s | %s | %s |\n", e.name, span(e), r.policy, percent(what.before), left,
				percent(what.worstMeantime), back, percent(s.regret(r, best, e.from, e.to)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func span(e event) string {
	return fmt.Sprintf("%.0f–%.0f min", e.from.Minutes(), e.to.Minutes())
}

func moment(d time.Duration) string {
	if d == never {
		return "not"
	}
	if d == 0 {
		return "< " + step.String()
	}
	return d.String()
}
