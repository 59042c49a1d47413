// ContentCodings
