package always

// ToModelChanges are the changes of toModel.
func ToModelChanges() []string {
	var all []string
	for _, l := range toModel {
		all = append(all, l.Change)
	}
	return all
}
