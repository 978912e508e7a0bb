//nolint:misspell // words as people write them, in many languages and spellings
package classify

// cue is a word, or two, that speaks for a workload.
type cue struct {
	workload Workload
	weight   float64
}

// The weights of cues: a strong one says by itself what is asked for, a usual
// one says it together with another, a weak one only tips the scale.
const (
	strong = 1.5
	usual  = 0.8
	weak   = 0.4
)

// vocabulary is by workload and weight. Two words are looked for side by side,
// whatever stands between them that is no letter.
var vocabulary = []struct {
	workload Workload
	weight   float64
	words    []string
}{
	{Code, strong, []string{
		"refactor", "debug", "compile", "compiler", "traceback", "segfault", "stacktrace", "stack trace", "unit test", "unit tests",
		"pull request", "null pointer", "merge conflict", "code review", "sql query", "source code", "programmiere", "programmieren",
	}},
	{Code, usual, []string{
		"code", "function", "bug", "python", "javascript", "typescript", "golang", "rust", "java", "kotlin", "swift", "ruby", "php", "c++", "c#", "haskell",
		"sql", "regex", "postgres", "react", "django", "kubernetes", "docker", "dockerfile", "bash", "script", "algorithm", "goroutine", "async",
		"funktion", "quellcode", "código", "codigo", "función", "programa", "fonction", "программу", "функцию", "код",
	}},
	{Code, weak, []string{
		"implement", "class", "method", "variable", "api", "endpoint", "html", "css", "exception", "library", "git", "commit", "repository", "test", "tests",
		"array", "loop", "thread", "deadlock", "program",
	}},
	{Reasoning, strong, []string{
		"prove", "proof", "theorem", "derive", "deduce", "riddle", "puzzle", "step by", "how many", "beweise", "demuestra", "demostrar", "démontre",
		"démontrer", "докажи", "probability", "combinatorics",
	}},
	{Reasoning, usual, []string{
		"solve", "calculate", "compute", "equation", "integral", "derivative", "logic", "logical", "infer", "hypothesis", "paradox", "contradiction", "optimal",
		"trade offs", "tradeoffs", "tradeoff", "trade off", "pros and", "root cause", "berechne", "löse", "calcula", "resuelve", "calcule", "résous", "реши", "вычисли",
	}},
	{Reasoning, weak, []string{
		"why", "compare", "analyze", "analyse", "evaluate", "strategy", "plan", "explain", "decide", "justify", "estimate", "consequences", "warum", "pourquoi",
	}},
	{ToolUse, usual, []string{
		"look up", "search the", "search for", "browse", "book a", "book me", "send an", "call the", "use the", "schedule a", "check the", "weather",
	}},
	{ToolUse, weak, []string{"tool", "tools", "agent", "fetch", "download", "calendar", "email", "remind"}},
	{Structured, strong, []string{
		"json", "json schema", "csv", "yaml", "xml", "structured output", "key value", "named entities", "as json",
	}},
	{Structured, usual, []string{
		"extract", "classify", "categorize", "categorise", "schema", "fields", "entities", "label", "sentiment", "extrahiere", "extrae", "extrais", "извлеки",
	}},
	{Structured, weak, []string{"parse", "table", "columns", "tabelle", "tags", "return only", "respond only", "format", "tabla"}},
	{Translation, strong, []string{
		"translate", "translation", "translated", "translating", "übersetze", "übersetzen", "übersetzung", "traduce", "traducir", "traduzca", "tradúceme",
		"traduis", "traduire", "traduisez", "traduza", "traduzir", "traduci", "tradurre", "переведи", "переведите", "перевод", "przetłumacz", "vertaal",
	}},
	{Translation, usual, []string{"into french", "localize", "localise", "wie sagt", "cómo se", "comment dit"}},
	{Summarization, strong, []string{
		"summarize", "summarise", "summarizing", "summary", "summaries", "tldr", "tl dr", "recap", "key points", "main points", "key takeaways", "takeaways",
		"condense", "gist", "zusammenfassen", "zusammenfassung", "fasse", "fass", "resumir", "resume este", "resumen", "résumer", "résume", "résumé de", "резюмируй",
		"кратко", "samenvatting", "riassumi", "resuma",
	}},
	{Summarization, usual, []string{"shorten", "meeting notes", "boil down", "highlights", "digest", "in brief", "bullet points", "executive summary"}},
}

// unspaced are cues of languages that put no spaces between words.
var unspaced = []struct {
	text     string
	workload Workload
	weight   float64
}{
	{"翻译", Translation, strong},
	{"翻譯", Translation, strong},
	{"翻訳", Translation, strong},
	{"번역", Translation, strong},
	{"总结", Summarization, strong},
	{"總結", Summarization, strong},
	{"摘要", Summarization, strong},
	{"要約", Summarization, strong},
	{"요약", Summarization, strong},
	{"代码", Code, usual},
	{"函数", Code, usual},
	{"コード", Code, usual},
	{"関数", Code, usual},
	{"코드", Code, usual},
	{"证明", Reasoning, strong},
	{"証明", Reasoning, strong},
	{"计算", Reasoning, usual},
	{"計算", Reasoning, usual},
	{"증명", Reasoning, strong},
	{"提取", Structured, usual},
	{"抽出", Structured, usual},
}

// codeMarks and mathMarks are what stands in source text and in formulas.
var (
	codeMarks = []string{
		"func ", "def ", "#include", "import ", "public class", "console.log", "SELECT ", "fn main", "=> {", "):\n", "</div>", "git ", "npm ", "Exception:", "Error:",
	}
	mathMarks = []string{`\frac`, `\int`, `\sum`, "∫", "∑", "√", "≤", "∀", "∃", "x^", "n!"}
)

// demanding are the words of conditions.
var demanding = set("must", "should", "without", "ensure", "constraint", "constraints", "require", "requires", "exactly", "unless", "except", "never", "always",
	"edge", "tradeoff", "robust", "concurrent", "distributed", "scalable", "rigorous", "rigorously", "optimal", "efficient", "muss", "ohne", "debe", "sin", "doit", "sans")

// languages are what one can translate into or from.
var languages = set("english", "french", "german", "spanish", "italian", "portuguese", "dutch", "polish", "russian", "ukrainian", "turkish", "arabic", "hebrew",
	"hindi", "chinese", "mandarin", "japanese", "korean", "vietnamese", "thai", "greek", "swedish", "latin", "englisch", "englische", "französische", "französisch", "deutsche",
	"deutsch", "spanisch", "spanische", "inglés", "francés", "alemán", "español", "anglais", "français", "allemand", "espagnol", "inglese", "английский", "русский")

// towards lead to the name of a language.
var towards = set("in", "into", "to", "from", "ins", "auf", "al", "en", "del", "de", "на", "с", "em", "para", "do")

var cues = func() map[string]cue {
	all := make(map[string]cue)
	for _, v := range vocabulary {
		for _, w := range v.words {
			all[w] = cue{v.workload, v.weight}
		}
	}
	return all
}()

func set(words ...string) map[string]bool {
	all := make(map[string]bool, len(words))
	for _, w := range words {
		all[w] = true
	}
	return all
}

func isLanguage(word string) bool { return languages[word] }

func leadsToLanguage(word string) bool { return towards[word] }
