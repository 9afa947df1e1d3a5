module example/decide

go 1.19
