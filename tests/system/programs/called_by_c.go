// SPDX-License-Identifier: MIT
// Routines that are called back by C all the time, by a function so short that Go may interrupt it at its beginning.
package main

// #include <stdlib.h>
// extern int difference(int, int);
// static int compare(const void *a, const void *b) { return difference(*(const int *)a, *(const int *)b); }
// static void sort(int *values, size_t count) { qsort(values, count, sizeof(int), compare); }
import "C"
import "fmt"

//export difference
func difference(a, b C.int) C.int { return a - b }

func main() {
	results := make(chan int)
	for i := 0; i < 8; i++ {
		go func(i int) {
			values := make([]C.int, 3000)
			for round := 0; round < 20; round++ {
				for k := range values {
					values[k] = C.int((k*7919 + i) % 3001)
				}
				C.sort(&values[0], C.size_t(len(values)))
			}
			results <- int(values[100]) + i*1000
		}(i)
	}
	sum := 0
	for i := 0; i < 8; i++ {
		sum += <-results
	}
	fmt.Println(sum)
}
