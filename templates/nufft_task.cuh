// A subproblem: points [start, stop) of one group of bins, in sorted order.
struct Task {
  count start, stop;
  unsigned group, unused;
};
