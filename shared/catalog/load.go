package catalog

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// MaxFileBytes is the largest catalog file that is read.
const MaxFileBytes = 4 << 20

// Warnings are what the operator should know of a file that is good enough.
type Warnings []Problem

// Load reads a catalog file. The error is Problems and lists everything that
// is wrong with the file itself; what it refers to is known only once it was
// merged: see Overlaid. env looks up an environment variable.
func Load(r io.Reader, filename string, env func(string) (string, bool)) (Overlay, Warnings, error) {
	l, err := load(r, filename, env)
	if err != nil {
		return Overlay{}, nil, err
	}
	if len(l.problems) > 0 {
		return Overlay{}, l.warnings, l.problems
	}
	return l.over, l.warnings, nil
}

// Overlaid reads a catalog file and lays it over base. The error is Problems
// with all that is wrong in the file and in the merged catalog, each at its
// line.
func Overlaid(base Catalog, r io.Reader, filename string, env func(string) (string, bool)) (Catalog, Overlay, Warnings, error) {
	l, err := load(r, filename, env)
	if err != nil {
		return Catalog{}, Overlay{}, nil, err
	}
	merged := Merge(base, l.over)
	problems := append(l.problems, l.over.locate(filename, merged, Check(merged))...)
	slices.SortStableFunc(problems, func(a, b Problem) int { return a.Line - b.Line })
	if len(problems) > 0 {
		return Catalog{}, Overlay{}, l.warnings, problems
	}
	return merged, l.over, l.warnings, nil
}

type loader struct {
	yamlReader
	over Overlay
	env  func(string) (string, bool)
}

func load(r io.Reader, filename string, env func(string) (string, bool)) (*loader, error) {
	l := &loader{yamlReader: yamlReader{file: filename}, env: env}
	l.over.at = positions{}
	l.over.Keys = map[string]secret.String{}
	body, err := io.ReadAll(io.LimitReader(r, MaxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read catalog file %s: %w", filename, err)
	}
	if len(body) > MaxFileBytes {
		return nil, Problems{{File: filename, Message: "want at most 4 MiB"}}
	}
	dec := yaml.NewDecoder(strings.NewReader(string(body)))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return l, nil
	case err != nil:
		return nil, Problems{syntaxProblem(filename, err)}
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, Problems{{File: filename, Message: "want one YAML document"}}
	}
	if len(doc.Content) == 1 && !isNull(doc.Content[0]) {
		l.document(place{node: doc.Content[0]})
	}
	return l, nil
}

var lineInError = regexp.MustCompile(`line (\d+)`)

// syntaxProblem keeps the line of a YAML error and drops its text, which may
// quote the file.
func syntaxProblem(filename string, err error) Problem {
	p := Problem{File: filename, Message: "is not valid YAML here"}
	if m := lineInError.FindStringSubmatch(err.Error()); m != nil {
		p.Line, _ = strconv.Atoi(m[1])
	}
	return p
}

func (l *loader) document(at place) {
	l.mapping(at,
		field{"providers", func(at place) { l.list(at, l.provider) }},
		field{"models", func(at place) { l.list(at, l.model) }},
	)
}

func (l *loader) provider(at place) {
	var p ProviderPatch
	var key *place
	if !l.mapping(at,
		field{"slug", func(at place) { p.Slug = deref(l.text(at)) }},
		field{"name", func(at place) { p.Name = l.text(at) }},
		field{"aliases", func(at place) { p.Aliases = texts[string](&l.yamlReader, at) }},
		field{"type", func(at place) { p.Type = (*ProviderType)(l.text(at)) }},
		field{"base_url", func(at place) { p.BaseURL = l.text(at) }},
		field{"api_key", func(at place) { key = &at }},
		field{"keyless", func(at place) { p.Keyless = l.flag(at) }},
		field{"regions", func(at place) { p.Regions = texts[string](&l.yamlReader, at) }},
		field{"data_policy", func(at place) { l.dataPolicy(at, &p.DataPolicy) }},
		field{"retry", func(at place) {
			l.mapping(at, field{"max", func(at place) { p.RetryMax = l.small(at) }})
		}},
		field{"disabled", func(at place) { p.Disabled = l.flag(at) }},
		field{"aggregator", func(at place) { p.Aggregator = l.flag(at) }},
		field{"quirks", func(at place) { l.quirks(at, &p.Quirks) }},
		field{"cache_retention", func(at place) { p.CacheRetention = l.duration(at) }},
		field{"api_version", func(at place) {
			// Unquoted, most versions are dates to YAML.
			if v, ok := l.scalar(at, "text", "!!str", "!!timestamp"); ok {
				p.APIVersion = &v
			}
		}},
		field{"project", func(at place) { p.Project = l.text(at) }},
		field{"location", func(at place) { p.Location = l.text(at) }},
	) {
		return
	}
	if !l.claim(at, "slug", p.Slug, "provider "+p.Slug) {
		return
	}
	if p.BaseURL != nil {
		trimmed := strings.TrimRight(*p.BaseURL, "/")
		p.BaseURL = &trimmed
	}
	if key != nil {
		if value, ok := l.apiKey(*key); ok {
			l.over.Keys[p.Slug] = value
		}
	}
	l.over.Providers = append(l.over.Providers, p)
}

// claim notes where an entry is. An entry without a name, or with one that is
// taken, is refused.
func (l *loader) claim(at place, member, name, entry string) bool {
	if name == "" {
		l.refuse(at, "%s is required", member)
		return false
	}
	if other, taken := l.over.at[entry]; taken {
		if other.line == 0 { // of a document without lines
			l.refuse(at, "the same %s is there already", member)
		} else {
			l.refuse(at, "the same %s is already at line %d", member, other.line)
		}
		return false
	}
	l.over.at[entry] = position{path: at.path, line: at.node.Line, lines: memberLines(at.node)}
	return true
}

func (l *loader) dataPolicy(at place, p *DataPolicy) {
	l.mapping(at,
		field{"trains", func(at place) { p.Trains = l.flag(at) }},
		field{"retains", func(at place) { p.Retains = l.flag(at) }},
		field{"zero_data_retention", func(at place) { p.ZeroDataRetention = l.flag(at) }},
	)
}

func (l *loader) quirks(at place, q *Quirks) {
	l.mapping(at,
		field{"token_limit", func(at place) { q.TokenLimit = deref(l.text(at)) }},
		field{"system_role", func(at place) { q.SystemRole = deref(l.text(at)) }},
		field{"stream_usage", func(at place) { q.StreamUsage = l.flag(at) }},
		field{"reasoning_field", func(at place) { q.ReasoningField = deref(l.text(at)) }},
		field{"cache_control", func(at place) { q.CacheControl = l.flag(at) }},
		field{"cache_hint", func(at place) { q.CacheHint = deref(l.text(at)) }},
	)
}

var envReference = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

// apiKey resolves ${NAME}. Its messages name the variable, never a value.
func (l *loader) apiKey(at place) (secret.String, bool) {
	text, ok := l.scalar(at, "${NAME} of an environment variable", "!!str", "!!int", "!!float")
	if !ok {
		return secret.String{}, false
	}
	if m := envReference.FindStringSubmatch(text); m != nil {
		value, found := l.env(m[1])
		if !found || value == "" {
			l.refuse(at, "the environment variable %s is not set", m[1])
			return secret.String{}, false
		}
		return secret.NewString(value), true
	}
	if text == "" || strings.Contains(text, "${") {
		l.refuse(at, "want ${NAME} of an environment variable and nothing around it")
		return secret.String{}, false
	}
	l.warnings = append(l.warnings, Problem{
		File: l.file, Line: at.node.Line, Path: at.path,
		Message: "the key stands in the file; write ${NAME} and set it in the environment",
	})
	return secret.NewString(text), true
}

func (l *loader) model(at place) {
	var m ModelPatch
	if !l.mapping(at,
		field{"id", func(at place) { m.ID = deref(l.text(at)) }},
		field{"name", func(at place) { m.Name = l.text(at) }},
		field{"aliases", func(at place) { m.Aliases = texts[string](&l.yamlReader, at) }},
		field{"context", func(at place) { m.Context = l.integer(at) }},
		field{"max_output", func(at place) { m.MaxOutput = l.integer(at) }},
		field{"input_modalities", func(at place) { m.Input = l.modalities(at) }},
		field{"output_modalities", func(at place) { m.Output = l.modalities(at) }},
		field{"capabilities", func(at place) { m.Capabilities = texts[string](&l.yamlReader, at) }},
		field{"lifecycle", func(at place) { m.Lifecycle = l.lifecycle(at) }},
		field{"benchmarks", func(at place) { m.Benchmarks = l.benchmarks(at) }},
		field{"endpoints", func(at place) { l.list(at, func(at place) { l.endpoint(at, &m) }) }},
		field{"rules", func(at place) { l.list(at, func(at place) { l.rule(at, &m) }) }},
	) {
		return
	}
	if !l.claim(at, "id", m.ID, "model "+m.ID) {
		return
	}
	// The id of the model may come after its endpoints and rules.
	for i := range m.Endpoints {
		e := &m.Endpoints[i]
		l.over.at.move("endpoint "+EndpointID(e.Provider, at.path, e.Region), "endpoint "+EndpointID(e.Provider, m.ID, e.Region))
	}
	for i := range m.Rules {
		l.over.at.move(ruleEntry(at.path, m.Rules[i].Name), ruleEntry(m.ID, m.Rules[i].Name))
	}
	l.over.Models = append(l.over.Models, m)
}

func (l *loader) modalities(at place) *[]Modality {
	list := texts[Modality](&l.yamlReader, at)
	for _, m := range *list {
		switch m {
		case Text, Image, Audio, Video, File, Embedding:
		default:
			l.refuse(at, "want text, image, audio, video, file or embedding")
		}
	}
	return list
}

func (l *loader) lifecycle(at place) *Lifecycle {
	var c Lifecycle
	l.mapping(at,
		field{"state", func(at place) { c.State = LifecycleState(deref(l.text(at))) }},
		field{"deprecated_at", func(at place) { c.DeprecatedAt = l.date(at) }},
		field{"retires_at", func(at place) { c.RetiresAt = l.date(at) }},
		field{"replacement", func(at place) { c.Replacement = deref(l.text(at)) }},
	)
	return &c
}

func (l *loader) benchmarks(at place) *[]Benchmark {
	list := []Benchmark{}
	l.list(at, func(at place) {
		var b Benchmark
		l.mapping(at,
			field{"id", func(at place) { b.ID = deref(l.text(at)) }},
			field{"score", func(at place) { b.Score = l.number(at) }},
			field{"self_reported", func(at place) { b.SelfReported = deref(l.flag(at)) }},
		)
		if b.ID == "" || !(b.Score >= 0 && b.Score <= 100) {
			l.refuse(at, "want an id and a score from 0 to 100")
		}
		list = append(list, b)
	})
	return &list
}

func (l *loader) endpoint(at place, m *ModelPatch) {
	var e EndpointPatch
	if !l.mapping(at,
		field{"provider", func(at place) { e.Provider = deref(l.text(at)) }},
		field{"region", func(at place) { e.Region = deref(l.text(at)) }},
		field{"upstream_model", func(at place) { e.UpstreamModel = l.text(at) }},
		field{"price", func(at place) { e.Price = l.prices(at) }},
		field{"context", func(at place) { e.Context = l.integer(at) }},
		field{"max_output", func(at place) { e.MaxOutput = l.integer(at) }},
		field{"surfaces", func(at place) { e.Surfaces = texts[Surface](&l.yamlReader, at) }},
		field{"parameters", func(at place) { e.Parameters = texts[string](&l.yamlReader, at) }},
		field{"channel", func(at place) { e.Channel = (*Channel)(l.text(at)) }},
		field{"derank", func(at place) { e.Derank = l.small(at) }},
		field{"disabled", func(at place) { e.Disabled = l.flag(at) }},
	) {
		return
	}
	parent := at.path[:strings.LastIndex(at.path, ".endpoints[")]
	if l.claim(at, "provider", e.Provider, "endpoint "+EndpointID(e.Provider, parent, e.Region)) {
		m.Endpoints = append(m.Endpoints, e)
	}
}

func (l *loader) prices(at place) *PricePatch {
	p := &PricePatch{}
	l.mapping(at, append(l.priceFields(&p.Price, &p.Request), field{"tiers", func(at place) {
		tiers := []Tier{}
		l.list(at, func(at place) { tiers = append(tiers, l.tier(at)) })
		p.Tiers = &tiers
	}})...)
	return p
}

func (l *loader) tier(at place) Tier {
	var t Tier
	l.mapping(at,
		field{"above", func(at place) { t.Above = deref(l.integer(at)) }},
		field{"price", func(at place) {
			var request *money.Nanos
			l.mapping(at, l.priceFields(&t.Price, &request)...)
			t.Price.Request = deref(request)
		}},
	)
	return t
}

func (l *loader) priceFields(p *Price, request **money.Nanos) []field {
	one := func(name string, to **money.PerMillion) field {
		return field{name, func(at place) { *to = l.price(at, "million") }}
	}
	return []field{
		one("input", &p.Input), one("output", &p.Output), one("cached_input", &p.CachedInput),
		one("cache_write_5m", &p.CacheWrite5m), one("cache_write_1h", &p.CacheWrite1h),
		one("reasoning", &p.Reasoning), one("image", &p.Image), one("audio", &p.Audio),
		{"request", func(at place) {
			if v := l.price(at, "request"); v != nil {
				n := money.Nanos(*v)
				*request = &n
			}
		}},
	}
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
