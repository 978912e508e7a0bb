package translate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/tokens"
)

// A provider's numbers and names go into the account of a request. What cannot
// be must not: an account with it is refused further down and lost.
func TestUsageThatCannotBeIsNotBelieved(t *testing.T) {
	for name, usage := range map[string]string{
		"the largest number": `{"prompt_tokens":1,"completion_tokens":9223372036854775807}`,
		"a billion":          `{"prompt_tokens":1000000000,"completion_tokens":1}`,
		"in the details":     `{"prompt_tokens":5,"completion_tokens":1,"completion_tokens_details":{"reasoning_tokens":4000000000}}`,
	} {
		t.Run(name, func(t *testing.T) {
			codec := translate.New(nil).Codec(chat(strings.Repeat("x", 40)), canonical, north)
			_, failure := codec.Whole(fmt.Appendf(nil, `{"choices":[{"message":{"content":"12345678"}}],"usage":%s}`, usage))
			require.Nil(t, failure, "the answer itself is good")
			seen := codec.Seen()
			require.True(t, seen.Usage.Estimated)
			require.EqualValues(t, 10, seen.Usage.Input)
			require.Equal(t, tokens.Of("12345678"), seen.Usage.Output)
		})
	}
}

func TestTheServedModelsNameIsBounded(t *testing.T) {
	codec := translate.New(nil).Codec(chat("{}"), canonical, north)
	out, failure := codec.Whole(fmt.Appendf(nil, `{"model":"%s","choices":[]}`, strings.Repeat("模", 1<<20)))
	require.Nil(t, failure)
	want := fmt.Sprintf(`{"model":%q,"choices":[]}`, canonical)
	require.Equal(t, want, string(out))
	require.Equal(t, strings.Repeat("模", 85), codec.Seen().ServedModel)
}
