package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// storedRoutes are those of what outlives its request. Each object is its
// maker's alone: with another credential it is not found.
func storedRoutes() []route {
	both := []platform{openAI, azure}
	none := func(*exchange) string { return "" }
	stored := func(kind string) func(x *exchange) string {
		return func(x *exchange) string {
			x.authorize() // the owner is needed to find the model; a refusal comes again
			o, _ := x.server.stored.get(x.owner, kind, x.id)
			x.owner = ""
			return o.model
		}
	}
	r := func(method, path string, body bodyKind, serve func(*exchange), model func(*exchange) string) route {
		return route{method: method, path: path, format: chatFormat{}, body: body, serve: serve, on: both, model: model}
	}
	const get, post, remove = http.MethodGet, http.MethodPost, http.MethodDelete
	all := []route{
		r(post, "/videos", eitherBody, (*exchange).makeVideo, nil),
		r(get, "/videos", noBody, (*exchange).listVideos, none),
		r(get, "/videos/{id}", noBody, (*exchange).video, stored("video")),
		r(get, "/videos/{id}/content", noBody, (*exchange).videoContent, stored("video")),
		r(remove, "/videos/{id}", noBody, func(x *exchange) { x.removed("video", "video.deleted") }, stored("video")),
		r(post, "/files", formBody, (*exchange).makeFile, none),
		r(get, "/files", noBody, (*exchange).listFiles, none),
		r(get, "/files/{id}", noBody, (*exchange).file, none),
		r(get, "/files/{id}/content", noBody, (*exchange).fileContent, none),
		r(remove, "/files/{id}", noBody, func(x *exchange) { x.removed("file", "file") }, none),
		r(post, "/batches", jsonBody, (*exchange).makeBatch, none),
		r(get, "/batches", noBody, (*exchange).listBatches, none),
		r(get, "/batches/{id}", noBody, (*exchange).batch, none),
		r(post, "/batches/{id}/cancel", noBody, (*exchange).cancelBatch, none),
	}
	for _, music := range []route{
		r(post, "/music", eitherBody, (*exchange).makeMusic, nil), r(get, "/music/{id}", noBody, (*exchange).music, stored("music")),
	} {
		music.on = nil
		all = append(all, music)
	}
	return all
}

// newID names an object. Two submissions of one body are two objects.
func (x *exchange) newID(prefix string) string {
	return prefix + hexOf(x.body, x.owner, fmt.Sprint(x.server.stored.number()))
}

func (x *exchange) notFound(what string) {
	x.refuse(&refusal{status: http.StatusNotFound, param: "id", message: "No such " + what + ": " + x.id})
}

func (x *exchange) removed(kind, named string) {
	if !x.server.stored.remove(x.owner, kind, x.id) {
		x.notFound(kind)
		return
	}
	x.plain(obj("id", x.id, "object", named, "deleted", true))
}

// listed is one page of all objects.
func listed(items []json.RawMessage) json.RawMessage {
	first, last := any(nil), any(nil)
	if len(items) > 0 {
		first, last = gjson.GetBytes(items[0], "id").Str, gjson.GetBytes(items[len(items)-1], "id").Str
	}
	return obj("object", "list", "data", list(items...), "first_id", first, "last_id", last, "has_more", false)
}

// progress is how far a job is: queued, then in progress, then done.
func (x *exchange) progress(o object) (status string, percent int) {
	switch polls := x.server.options.Polls; {
	case o.polls == 0:
		return "queued", 0
	case o.polls < polls:
		return "in_progress", 100 * o.polls / polls
	case o.failed:
		return "failed", 50
	}
	return "completed", 100
}

// makeVideo is https://platform.openai.com/docs/api-reference/videos.
func (x *exchange) makeVideo() {
	seconds, refused := x.chosen("seconds", "4 8 12", "4")
	size := firstWord(x.setting("size"), "720x1280")
	prompt := x.setting("prompt")
	switch {
	case x.model == "":
		refused = missing("model")
	case prompt == "":
		refused = missing("prompt")
	case x.json.Get("seconds").Exists() && x.json.Get("seconds").Type != gjson.String:
		refused = &refusal{status: 400, param: "seconds", code: "invalid_type", message: "Invalid type for 'seconds': expected one of '4', '8', or '12', but got an integer instead."}
	case !set("720x1280 1280x720 1024x1792 1792x1024")[size]:
		refused = oneOf("size", size, "720x1280 1280x720 1024x1792 1792x1024")
	}
	if refused == nil && x.form != nil {
		for _, f := range x.form.files {
			if f.field != "input_reference" || len(f.data) == 0 {
				refused = refuse(f.field, "Invalid file '%s'.", f.field)
			}
		}
	}
	if refused != nil {
		x.refuse(refused)
		return
	}
	about := obj("created_at", x.server.options.Now().Unix(), "model", x.model, "seconds", seconds, "size", size, "prompt", prompt)
	o := object{kind: "video", id: x.newID("video_"), model: x.model, failed: x.fault.FailJob, data: about}
	x.server.stored.put(x.owner, o)
	x.plain(x.videoObject(o))
}

func (x *exchange) videoObject(o object) json.RawMessage {
	status, percent := x.progress(o)
	about := gjson.ParseBytes(o.data)
	raw := func(name string) any { return json.RawMessage(about.Get(name).Raw) }
	completed, failure := any(nil), any(nil)
	switch status {
	case "completed":
		completed = raw("created_at")
	case "failed":
		failure = obj("code", "video_generation_failed", "message", "The simulated job failed on request.")
	}
	return obj("id", o.id, "object", "video", "created_at", raw("created_at"), "status", status, "completed_at", completed,
		"error", failure, "expires_at", nil, "model", raw("model"), "progress", percent, "prompt", raw("prompt"),
		"remixed_from_video_id", nil, "seconds", raw("seconds"), "size", raw("size"))
}

func (x *exchange) video() {
	if o, ok := x.server.stored.poll(x.owner, "video", x.id); ok {
		x.plain(x.videoObject(o))
		return
	}
	x.notFound("video")
}

func (x *exchange) listVideos() {
	var items []json.RawMessage
	for _, o := range x.server.stored.list(x.owner, "video") {
		items = append(items, x.videoObject(o))
	}
	x.plain(listed(items))
}

func (x *exchange) videoContent() {
	o, ok := x.server.stored.get(x.owner, "video", x.id)
	if !ok {
		x.notFound("video")
		return
	}
	if status, _ := x.progress(o); status != "completed" {
		x.refuse(&refusal{status: http.StatusConflict, message: "Video is not ready yet, use GET /v1/videos/" + o.id + " to check status."})
		return
	}
	kinds := map[string]string{"video": "video/mp4", "thumbnail": "image/webp", "spritesheet": "image/jpeg"}
	variant := firstWord(x.r.URL.Query().Get("variant"), "video")
	media, ok := kinds[variant]
	if !ok {
		x.refuse(oneOf("variant", variant, "video thumbnail spritesheet"))
		return
	}
	x.w.Header().Set("Content-Disposition", `attachment; filename="`+o.id+`.mp4"`)
	x.whole(media, []byte("\x00\x00\x00\x18ftypmp42"+variant+" of "+o.id))
}

// makeMusic is the generic shape of the package comment.
func (x *exchange) makeMusic() {
	prompt := x.setting("prompt")
	switch {
	case x.model == "":
		x.refuse(missing("model"))
	case prompt == "":
		x.refuse(missing("prompt"))
	default:
		about := obj("created_at", x.server.options.Now().Unix(), "model", x.model, "prompt", prompt)
		o := object{kind: "music", id: x.newID("music_"), model: x.model, failed: x.fault.FailJob, data: about}
		x.server.stored.put(x.owner, o)
		x.plain(x.musicObject(o))
	}
}

func (x *exchange) musicObject(o object) json.RawMessage {
	status, percent := x.progress(o)
	about := gjson.ParseBytes(o.data)
	audio, failure := any(omitted), any(nil)
	switch status {
	case "completed":
		audio = list(obj("url", "https://music.example/"+o.id+".mp3", "content_type", "audio/mpeg", "duration", 30))
	case "failed":
		failure = obj("code", "generation_failed", "message", "The simulated job failed on request.")
	}
	return obj("id", o.id, "object", "music", "created_at", json.RawMessage(about.Get("created_at").Raw), "status", status,
		"progress", percent, "model", about.Get("model").Str, "prompt", about.Get("prompt").Str, "audio", audio, "error", failure)
}

func (x *exchange) music() {
	if o, ok := x.server.stored.poll(x.owner, "music", x.id); ok {
		x.plain(x.musicObject(o))
		return
	}
	x.notFound("music")
}

// purposes are what a file may be for.
const purposes = `assistants batch fine-tune vision user_data evals`

// makeFile is https://platform.openai.com/docs/api-reference/files.
func (x *exchange) makeFile() {
	f, ok := x.form.file("file")
	purpose, refused := x.chosen("purpose", purposes, x.form.value("purpose"))
	switch {
	case x.form.value("purpose") == "":
		refused = missing("purpose")
	case !ok:
		refused = missing("file")
	case len(f.data) == 0:
		refused = refuse("file", "File is empty.")
	case refused == nil && purpose == "batch" && !strings.HasSuffix(f.name, ".jsonl"):
		refused = refuse("file", "Invalid file format for Batch API. Must be .jsonl")
	}
	if refused != nil {
		x.refuse(refused)
		return
	}
	x.plain(x.keepFile(f.name, purpose, f.data))
}

func (x *exchange) keepFile(name, purpose string, data []byte) json.RawMessage {
	o := object{kind: "file", id: x.newID("file-"), content: data}
	o.data = obj("id", o.id, "object", "file", "bytes", len(data), "created_at", x.server.options.Now().Unix(),
		"expires_at", nil, "filename", name, "purpose", purpose, "status", "processed", "status_details", nil)
	x.server.stored.put(x.owner, o)
	return o.data
}

func (x *exchange) listFiles() {
	var items []json.RawMessage
	for _, o := range x.server.stored.list(x.owner, "file") {
		if want := x.r.URL.Query().Get("purpose"); want == "" || gjson.GetBytes(o.data, "purpose").Str == want {
			items = append(items, o.data)
		}
	}
	x.plain(listed(items))
}

func (x *exchange) file() {
	if o, ok := x.server.stored.get(x.owner, "file", x.id); ok {
		x.plain(o.data)
		return
	}
	x.notFound("File object")
}

func (x *exchange) fileContent() {
	if o, ok := x.server.stored.get(x.owner, "file", x.id); ok {
		x.whole("application/octet-stream", o.content)
		return
	}
	x.notFound("File object")
}
