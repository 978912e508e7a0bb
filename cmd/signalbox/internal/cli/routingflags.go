package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// routingFlags are the flags that say what a routing profile sets.
type routingFlags struct {
	name, file                                      string
	defaultModel, mode, sort, region, input, output string
	fallbacks, order, only, ignore                  []string
	auto, parameters, zdr, training                 bool
	allowFallbacks, cacheAware, affinity            bool
	latency, throughput                             float64
	firstByte, request                              time.Duration
	retries                                         int
}

func (r *routingFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.name, "name", "", "a name for people, unique in the workspace")
	f.StringVarP(&r.file, "file", "f", "", "a YAML or JSON file with name and routing, or - for the standard input")
	f.StringVar(&r.defaultModel, "default-model", "", "used when a request names no model")
	f.BoolVar(&r.auto, "auto", false, "the default model is signalbox/auto")
	f.StringSliceVar(&r.fallbacks, "fallback-models", nil, "models to go on with, at most 8")
	f.StringVar(&r.mode, "mode", "", "balanced, price, latency or throughput")
	f.StringSliceVar(&r.order, "order", nil, "providers to try first, in this order")
	f.StringSliceVar(&r.only, "only", nil, "the only providers that may serve")
	f.StringSliceVar(&r.ignore, "ignore", nil, "providers that may not serve")
	f.BoolVar(&r.allowFallbacks, "allow-fallbacks", true, "whether candidates after the first are tried")
	f.StringVar(&r.sort, "sort", "", "a fixed order by price, latency or throughput")
	f.BoolVar(&r.parameters, "require-parameters", false, "only endpoints that support every parameter of the request")
	f.BoolVar(&r.zdr, "zdr", false, "only providers that promise zero data retention")
	f.BoolVar(&r.training, "deny-training", false, "only providers that promise not to train")
	f.StringVar(&r.region, "region", "", "only endpoints in this region, such as eu")
	f.StringVar(&r.input, "max-input-price", "", "USD per million input tokens, at most")
	f.StringVar(&r.output, "max-output-price", "", "USD per million output tokens, at most")
	f.Float64Var(&r.latency, "max-latency", 0, "preferred seconds to the first content, at most")
	f.Float64Var(&r.throughput, "min-throughput", 0, "preferred tokens per second, at least")
	f.BoolVar(&r.cacheAware, "cache-aware", true, "whether requests stay where their prompt is cached")
	f.DurationVar(&r.firstByte, "first-byte-timeout", 0, "how long one upstream call may take to its first content")
	f.DurationVar(&r.request, "request-timeout", 0, "how long a request may take with all its attempts")
	f.IntVar(&r.retries, "retries", 0, "how often the same endpoint is asked again, in place of the operator's number, at most 3; 0 for never, -1 to leave it to the operator")
	f.BoolVar(&r.affinity, "affinity", true, "whether the requests of a session stay with their provider")
}

// document is what the file and the flags come to, over what there is: a file
// replaces all of it, a flag its own field.
func (r *routingFlags) document(a *app, c *cobra.Command, fields client.RoutingFields) (name *string, _ client.RoutingFields, err error) {
	given := c.Flags().Changed
	if r.file != "" {
		var file client.RoutingProfilePatch
		if err := readDocument(a, r.file, "routing profile", &file); err != nil {
			return nil, fields, err
		}
		name, fields = file.Name, client.RoutingFields{}
		if file.Routing != nil {
			fields = *file.Routing
		}
	}
	if given("name") {
		name = &r.name
	}
	set(given("default-model"), &fields.DefaultModel, r.defaultModel)
	set(given("auto"), &fields.Auto, r.auto)
	set(given("mode"), &fields.RoutingMode, client.RoutingMode(r.mode))
	setList(given("fallback-models"), &fields.FallbackModels, r.fallbacks)
	if given("retries") {
		if fields.Retries = &r.retries; r.retries < 0 {
			fields.Retries = nil
		}
	}
	if given("affinity") {
		fields.Affinity = &r.affinity
	}
	r.provider(given, &fields)
	r.timeouts(given, &fields)
	return name, fields, nil
}

func (r *routingFlags) provider(given func(string) bool, fields *client.RoutingFields) {
	var p client.ProviderFields
	if fields.Provider != nil {
		p = *fields.Provider
	}
	setList(given("order"), &p.Order, r.order)
	setList(given("only"), &p.Only, r.only)
	setList(given("ignore"), &p.Ignore, r.ignore)
	set(given("sort"), &p.Sort, client.ProviderFieldsSort(r.sort))
	set(given("require-parameters"), &p.RequireParameters, r.parameters)
	set(given("zdr"), &p.RequireZeroDataRetention, r.zdr)
	set(given("deny-training"), &p.DenyTraining, r.training)
	set(given("region"), &p.RequiredRegion, r.region)
	set(given("max-latency"), &p.PreferredMaxLatency, r.latency)
	set(given("min-throughput"), &p.PreferredMinThroughput, r.throughput)
	if given("allow-fallbacks") {
		p.AllowFallbacks = &r.allowFallbacks
	}
	if given("cache-aware") {
		p.CacheAwareRouting = &r.cacheAware
	}
	var limits client.PriceLimits
	if p.MaxPrice != nil {
		limits = *p.MaxPrice
	}
	set(given("max-input-price"), &limits.Input, r.input)
	set(given("max-output-price"), &limits.Output, r.output)
	if p.MaxPrice = &limits; limits == (client.PriceLimits{}) {
		p.MaxPrice = nil
	}
	if fields.Provider = &p; p == (client.ProviderFields{}) {
		fields.Provider = nil
	}
}

func (r *routingFlags) timeouts(given func(string) bool, fields *client.RoutingFields) {
	var t client.TimeoutFields
	if fields.Timeouts != nil {
		t = *fields.Timeouts
	}
	set(given("first-byte-timeout"), &t.FirstByteMs, r.firstByte.Milliseconds())
	set(given("request-timeout"), &t.RequestMs, r.request.Milliseconds())
	if fields.Timeouts = &t; t == (client.TimeoutFields{}) {
		fields.Timeouts = nil
	}
}

// set writes a field whose flag was given; an empty value takes it away.
func set[T comparable](given bool, field **T, value T) {
	var none T
	switch {
	case !given:
	case value == none:
		*field = nil
	default:
		*field = &value
	}
}

func setList(given bool, field **[]string, list []string) {
	switch {
	case !given:
	case len(list) == 0:
		*field = nil
	default:
		*field = &list
	}
}

// readDocument reads a YAML or JSON file into v, which is a noun. A field that v does not have
// is refused: a misspelled restriction must not be ignored.
func readDocument(a *app, file, noun string, v any) (err error) {
	defer func() { err = ofFile(file, err) }()
	text, err := a.input(file)
	if err != nil {
		return err
	}
	var node yaml.Node
	if err := decodeOne(text, &node); err != nil {
		return err
	}
	datesAsWritten(&node)
	var document any
	if node.Decode(&document) != nil {
		return misuse("the file has a name twice in one place, or something that cannot be read")
	}
	body, err := json.Marshal(document)
	if err != nil {
		return misuse("the file has something that JSON has not, such as a number as a key")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		return misuse("the file is no %s: %s", noun, clean(strings.TrimPrefix(err.Error(), "json: ")))
	}
	if name := misspelled(document, reflect.TypeOf(v)); name != "" {
		return misuse("the file is no %s: unknown field %q", noun, clean(name))
	}
	return nil
}

// summary names what a profile sets, on one line.
func summary(fields client.RoutingFields) string {
	var names []string
	for _, f := range flatten(fields) {
		names = append(names, f.name)
	}
	return strings.Join(names, ",")
}

// setField is one field that a profile sets.
type setField struct{ name, value string }

// flatten lists what is set, sorted by name, with the names that a file has.
func flatten(fields client.RoutingFields) []setField {
	body, err := json.Marshal(fields)
	must(err) // plain values
	var tree map[string]any
	must(json.Unmarshal(body, &tree))
	var list []setField
	var walk func(prefix string, node map[string]any)
	walk = func(prefix string, node map[string]any) {
		for _, name := range slices.Sorted(maps.Keys(node)) {
			switch v := node[name].(type) {
			case map[string]any:
				walk(prefix+name+".", v)
			case []any:
				words := make([]string, len(v))
				for i, w := range v {
					words[i] = fmt.Sprint(w)
				}
				list = append(list, setField{prefix + name, strings.Join(words, ",")})
			default:
				list = append(list, setField{prefix + name, fmt.Sprint(v)})
			}
		}
	}
	walk("", tree)
	return list
}

func profileTable(t *table, p client.RoutingProfile) {
	t.row("ID", p.ID)
	t.row("NAME", p.Name)
	for _, f := range flatten(p.Routing) {
		t.row(f.name, f.value)
	}
	t.row("CREATED", p.CreatedAt)
	t.row("UPDATED", p.UpdatedAt)
}
