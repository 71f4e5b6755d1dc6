package reference

var mrtrMutants = []Mutant{}
