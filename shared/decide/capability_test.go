package decide_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

var (
	conversation = []catalog.Surface{catalog.Chat, catalog.Responses, catalog.Messages, catalog.Gemini}
	text         = []catalog.Modality{catalog.Text}
)

// What each kind of model serves at a provider that speaks OpenAI's format,
// and at one that does not. Every surface that is not named is refused.
func TestServes(t *testing.T) {
	for name, c := range map[string]struct {
		in, out []catalog.Modality
		lists   []catalog.Surface
		openAI  []catalog.Surface
		others  []catalog.Surface
	}{
		"nothing said":             {nil, nil, nil, conversation, conversation},
		"text":                     {text, text, nil, conversation, conversation},
		"text and images":          {[]catalog.Modality{catalog.Text, catalog.Image}, []catalog.Modality{catalog.Text, catalog.Image}, nil, conversation, conversation},
		"text and audio":           {text, []catalog.Modality{catalog.Text, catalog.Audio}, nil, conversation, conversation},
		"embedding":                {text, []catalog.Modality{catalog.Embedding}, nil, []catalog.Surface{catalog.Embeddings}, nil},
		"image":                    {text, []catalog.Modality{catalog.Image}, nil, []catalog.Surface{catalog.Images}, nil},
		"audio":                    {text, []catalog.Modality{catalog.Audio}, nil, []catalog.Surface{catalog.Speech}, nil},
		"video":                    {text, []catalog.Modality{catalog.Video}, nil, []catalog.Surface{catalog.Videos}, nil},
		"audio to text":            {[]catalog.Modality{catalog.Audio}, text, nil, []catalog.Surface{catalog.Transcriptions}, nil},
		"audio to something":       {[]catalog.Modality{catalog.Audio}, nil, nil, nil, nil},
		"images to text":           {[]catalog.Modality{catalog.Image}, text, nil, nil, nil},
		"chat stands for four":     {nil, nil, []catalog.Surface{catalog.Chat}, conversation, conversation},
		"responses stands for all": {nil, nil, []catalog.Surface{catalog.Responses}, conversation, conversation},
		"messages stands for all":  {text, text, []catalog.Surface{catalog.Messages}, conversation, conversation},
		"gemini stands for all":    {text, text, []catalog.Surface{catalog.Gemini}, conversation, conversation},
		"two families": {
			nil, nil,
			[]catalog.Surface{catalog.Gemini, catalog.Batches},
			append([]catalog.Surface{catalog.Batches}, conversation...), conversation,
		},
		"a list without conversation":   {nil, nil, []catalog.Surface{catalog.Completions}, []catalog.Surface{catalog.Completions}, nil},
		"a list takes from the implied": {text, []catalog.Modality{catalog.Image}, []catalog.Surface{catalog.ImageEdits}, []catalog.Surface{catalog.ImageEdits}, nil},
		"a list adds to the implied": {
			text,
			[]catalog.Modality{catalog.Audio},
			[]catalog.Surface{catalog.Speech, catalog.Music},
			[]catalog.Surface{catalog.Speech, catalog.Music},
			nil,
		},
		"chat listed and no text":       {text, []catalog.Modality{catalog.Embedding}, []catalog.Surface{catalog.Chat}, nil, nil},
		"embeddings listed and no such": {text, text, []catalog.Surface{catalog.Embeddings}, nil, nil},
		"embeddings of no said output":  {nil, nil, []catalog.Surface{catalog.Embeddings}, []catalog.Surface{catalog.Embeddings}, nil},
		"images beside text":            {text, []catalog.Modality{catalog.Text, catalog.Image}, []catalog.Surface{catalog.Images}, []catalog.Surface{catalog.Images}, nil},
		"a listener that also reads": {
			[]catalog.Modality{catalog.Text, catalog.Audio},
			text,
			[]catalog.Surface{catalog.Transcriptions, catalog.Translations},
			[]catalog.Surface{catalog.Transcriptions, catalog.Translations},
			nil,
		},
		"all listed": {nil, nil, catalog.Surfaces(), catalog.Surfaces(), conversation},
		"all listed, text": {
			text, text, catalog.Surfaces(),
			slices.DeleteFunc(catalog.Surfaces(), func(s catalog.Surface) bool {
				return slices.Contains([]catalog.Surface{
					catalog.Embeddings, catalog.Images, catalog.ImageEdits, catalog.Speech, catalog.Music, catalog.Videos,
				}, s)
			}),
			conversation,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range catalog.ProviderTypes() {
				want := c.others
				if speaksOpenAI(kind) {
					want = c.openAI
				}
				// What has chat or embeddings by itself has batches of them.
				batched := len(c.lists) == 0 && kind != catalog.OpenAICompatible && speaksOpenAI(kind) &&
					(slices.Contains(want, catalog.Chat) || slices.Contains(want, catalog.Embeddings))
				if batched {
					want = slices.Concat(want, []catalog.Surface{catalog.Batches, catalog.Files})
				}
				o := catalog.Offer{
					Model:    &catalog.Model{Input: c.in, Output: c.out},
					Endpoint: &catalog.Endpoint{Surfaces: c.lists},
					Provider: &catalog.Provider{Type: kind},
				}
				for _, s := range catalog.Surfaces() {
					require.Equal(t, slices.Contains(want, s), decide.Serves(&o, s), "%s at %s", s, kind)
				}
			}
		})
	}
	unknown := catalog.Offer{Model: &catalog.Model{}, Endpoint: &catalog.Endpoint{}, Provider: &catalog.Provider{Type: "telepathy"}}
	require.False(t, decide.Serves(&unknown, catalog.Chat), "a type that a newer control plane knows")
}

// An endpoint whose address cannot be told is no candidate, and says why.
func TestAnAddressThatIsNotKnown(t *testing.T) {
	for name, c := range map[string]struct {
		kind   catalog.ProviderType
		change func(*catalog.Provider)
		region string
		ok     bool
	}{
		"vertex, nothing":              {catalog.Vertex, nil, "", false},
		"vertex, project":              {catalog.Vertex, func(p *catalog.Provider) { p.Project = "p1" }, "", false},
		"vertex, project, endpoint's":  {catalog.Vertex, func(p *catalog.Provider) { p.Project = "p1" }, "europe-west4", true},
		"vertex, project and location": {catalog.Vertex, func(p *catalog.Provider) { p.Project, p.Location = "p1", "global" }, "", true},
		"azure, nothing":               {catalog.Azure, nil, "", false},
		"bedrock, nothing":             {catalog.Bedrock, nil, "", false},
		"bedrock, geography":           {catalog.Bedrock, nil, "eu", true},
		"bedrock, another geography":   {catalog.Bedrock, nil, "jp", false},
		"bedrock, location":            {catalog.Bedrock, func(p *catalog.Provider) { p.Location = "us-west-2" }, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			p := w.provider("north")
			p.Type, p.BaseURL = c.kind, ""
			if c.change != nil {
				c.change(p)
			}
			e := &w.model("acme/big").Endpoints[0]
			e.Region, e.ID = c.region, catalog.EndpointID("north", "acme/big", c.region)
			plan := w.decide(t, decide.Facts{Model: "acme/big"})
			if c.ok {
				require.Equal(t, []string{e.ID}, order(plan))
				return
			}
			require.Empty(t, order(plan))
			require.Equal(t, "no_base_url", plan.Record.Exclusions[0].Reason)
		})
	}
}
