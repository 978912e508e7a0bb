package catalog

const MaxSuggestSteps = maxSuggestSteps

// StepsOfSuggest is how much a search took.
func StepsOfSuggest(v *View, name string) int { return maxSuggestSteps - v.search(name).steps }
