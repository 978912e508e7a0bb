package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// candidates shows, model by model, who was tried in which order, what each
// score is made of, and what was known beside it.
func (s *story) candidates(r decide.Record) {
	if len(r.Candidates) == 0 {
		s.line("\nNo candidate was left.")
		return
	}
	for rest := r.Candidates; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Model == rest[0].Model {
			n++
		}
		s.ranked(rankingOf(r, rest[0].Model), rest[:n])
		rest = rest[n:]
	}
}

// rankingOf is how a model's candidates were scored; records of former
// versions do not say.
func rankingOf(r decide.Record, model string) decide.Ranking {
	for _, k := range r.Rankings {
		if k.Model == model {
			return k
		}
	}
	return decide.Ranking{Model: model}
}

func (s *story) ranked(k decide.Ranking, candidates []decide.RankedCandidate) {
	how := ", in the order in which they are tried"
	switch {
	case k.Mode == "":
	case k.Concentration > 0:
		how = fmt.Sprintf(", drawn by shares (mode %s, concentration %s, at least %s each)", k.Mode, number(k.Concentration), percent(k.Floor))
	case k.Fixed:
		how += " (by " + k.Mode + " alone)"
	}
	s.line("\nCandidates for %s%s", clean(k.Model), clean(how))
	s.table(func(t *table) {
		t.row("  #", "PROVIDER", "ENDPOINT", "TRIED FIRST", "SCORE", "NOTE")
		for _, c := range candidates {
			first := "–"
			if c.Share > 0 {
				first = percent(c.Share)
			}
			t.row(fmt.Sprintf("  %d", c.Rank+1), c.Provider, c.Endpoint, first, measured(c.Score, k.Unit), note(c))
		}
	})
	s.line("  %s", clean(meaning(k)))
	s.factors("What the scores are made of", k, candidates, false)
	s.factors("Known beside it, without a part in the score", k, candidates, true)
}

// meaning says in words what a score is.
func meaning(k decide.Ranking) string {
	sizes := fmt.Sprintf("%d tokens in", k.InputTokens)
	if k.OutputTokens > 0 {
		sizes += fmt.Sprintf(" and %d out", k.OutputTokens)
	}
	switch k.Sizes {
	case decide.SizesMeasured:
		sizes += " (measured)"
	case decide.SizesOfRequest:
		sizes += " (estimated)"
	case decide.SizesAssumed:
		sizes += " (assumed)"
	}
	switch {
	case k.Mode == "":
		return "A lower score is better."
	case k.Unit == "s":
		return "The score is the median time to the first byte."
	case k.Unit == "s/token":
		return "The score is the time that a token takes."
	case k.Unit == "":
		return "The score adds up weighted penalties, less is better. Prices are for " + sizes + "."
	case k.Fixed:
		return "The score is the price of " + sizes + "."
	}
	return "The score is what a good answer is expected to cost, waiting included, for " + sizes + "."
}

// note says what puts a candidate before or behind others whatever its score.
func note(c decide.RankedCandidate) string {
	var parts []string
	add := func(holds bool, text string) {
		if holds {
			parts = append(parts, text)
		}
	}
	add(c.Listed, "listed in provider.order")
	add(c.FirstParty, "the model's author")
	add(c.Missed, "misses the stated latency or throughput")
	add(c.Deranked, "put behind by the operator")
	add(c.Cooling, "failing or cooling down, so last")
	return strings.Join(parts, ", ")
}

// factors shows one kind of factor as a table: a row for each candidate, a
// column for each factor that any of them has.
func (s *story) factors(title string, k decide.Ranking, candidates []decide.RankedCandidate, context bool) {
	var names []string
	column := map[string]int{}
	assumed := false
	for _, c := range candidates {
		for _, f := range c.Factors {
			if _, ok := column[f.Name]; !ok && f.Context == context {
				column[f.Name] = len(names)
				names = append(names, f.Name)
			}
			assumed = assumed || f.Assumed && f.Context == context
		}
	}
	if len(names) == 0 {
		return
	}
	s.line("\n  %s", title)
	s.table(func(t *table) {
		header := []any{"  #"}
		for _, name := range names {
			header = append(header, heading(name))
		}
		t.row(header...)
		for _, c := range candidates {
			if len(c.Factors) == 0 {
				continue
			}
			row := make([]any, 1+len(names))
			row[0] = fmt.Sprintf("  %d", c.Rank+1)
			for i := range names {
				row[1+i] = "–"
			}
			for _, f := range c.Factors {
				if f.Context == context {
					row[1+column[f.Name]] = worded(f, k.Unit)
				}
			}
			t.row(row...)
		}
	})
	if assumed {
		s.line("  * not measured: what is typical stands in")
	}
}

func heading(name string) string {
	if name == decide.FactorTotal {
		return "WHOLE ANSWER"
	}
	return strings.ToUpper(strings.ReplaceAll(name, "_", " "))
}

// worded shows what was measured and what that does to the score, such as
// "2 s → 0.001 USD", "99 % → ×1.01" and "9 % → +36 %".
func worded(f decide.Factor, unit string) string {
	text := measured(f.Input, f.Unit)
	if f.Assumed {
		text += "*"
	}
	switch {
	case f.Name == decide.FactorWeight:
		return "×" + number(f.Input) + " as often"
	case f.Multiplier != 0:
		return text + " → ×" + number(f.Multiplier)
	case f.Surcharge != 0:
		return text + " → +" + percent(f.Surcharge)
	case f.Context || f.Unit == unit && f.Contribution == f.Input:
		return text
	}
	return text + " → " + measured(f.Contribution, unit)
}

// measured shows a number in the unit that people use.
func measured(v float64, unit string) string {
	switch unit {
	case "nano_usd":
		return dollars(v/float64(money.USD)) + " USD"
	case "share":
		return percent(v)
	case "":
		return number(v)
	}
	return number(v) + " " + unit
}

// percent shows three digits of a share.
func percent(v float64) string {
	switch {
	case v >= 10:
		return strconv.FormatFloat(100*v, 'f', 0, 64) + " %"
	case v >= 0.9995 && v < 1:
		return strconv.FormatFloat(100*v, 'f', 2, 64) + " %"
	}
	return strconv.FormatFloat(100*v, 'g', 3, 64) + " %"
}
