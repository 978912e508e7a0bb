package conversation

// efforts are the names for how much a model is to think, with the number of
// tokens that stands for each where a format counts them. The numbers are the
// product's own, in the range that providers recommend for the levels.
var efforts = []struct {
	name   string
	budget int64
}{
	{"minimal", 1024}, {"low", 4096}, {"medium", 16384}, {"high", 32768}, {"xhigh", 65536},
}

// Dynamic is the budget of a model that decides for itself how much it thinks.
const Dynamic int64 = -1

// BudgetOf is the number of tokens that stands for what was said: the budget
// itself, or that of the effort; 0 when neither was said or it is not known.
func (r Reasoning) BudgetOf() int64 {
	if r.Budget != 0 {
		return r.Budget
	}
	for _, e := range efforts {
		if e.name == r.Effort {
			return e.budget
		}
	}
	return 0
}

// EffortOf is the name that stands for what was said: the effort itself, or
// the highest whose budget is not above the one given. A budget under the
// lowest is "minimal", a dynamic one "medium". It is "none" when reasoning is
// off and "" when nothing was said.
func (r Reasoning) EffortOf() string {
	switch {
	case r.Off:
		return "none"
	case r.Effort != "":
		return r.Effort
	case r.Budget == Dynamic:
		return "medium"
	case r.Budget == 0:
		return ""
	}
	name := efforts[0].name
	for _, e := range efforts {
		if e.budget <= r.Budget {
			name = e.name
		}
	}
	return name
}
