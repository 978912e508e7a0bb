package surface_test

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// sameNames gives jobs and files the provider's own names.
type sameNames struct{}

func (sameNames) Name(_ id.Workspace, _ catalog.Surface, owned call.Owned) (string, error) {
	return owned.ID, nil
}

// The samples of what makes something that the provider keeps.
func init() {
	samples[catalog.Videos] = sample{
		kind: catalog.OpenAI, path: "/v1/videos", json: `{"model":"acme/small","prompt":"hi"}`,
		form:  []string{"prompt", "hi", "model", "acme/small", "@input_reference", "\x89PNG\xff"},
		media: media, reply: `{"id":"video_1","object":"video","status":"queued",` + models + `,"x_new":1e400}`,
	}
	samples[catalog.Music] = sample{
		kind: catalog.OpenAI, path: "/v1/music", json: `{"model":"acme/small","prompt":"hi"}`,
		form:  []string{"prompt", "hi", "model", "acme/small"},
		media: media, reply: `{"id":"music_1","status":"queued",` + models + `}`,
	}
	samples[catalog.Batches] = sample{
		kind: catalog.OpenAI, path: "/v1/batches", json: `{"input_file_id":"file-1","endpoint":"/v1/chat/completions","completion_window":"24h"}`,
		media: media, reply: `{"id":"batch_1","object":"batch","input_file_id":"file-1","output_file_id":null,"errors":null}`,
	}
	samples[catalog.Files] = sample{
		kind: catalog.OpenAI, path: "/v1/files", form: []string{"purpose", "user_data", "model", "acme/small", "@file", "%PDF-\xff"},
		media: media, reply: `{"id":"file-1","object":"file","bytes":6,"purpose":"user_data"}`,
	}
}
