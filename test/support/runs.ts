/** The number of runs of a property: `usual`, unless `FC_NUM_RUNS` is greater. */
export function runs(usual: number): { readonly numRuns: number } {
  return { numRuns: Math.max(usual, Number(process.env.FC_NUM_RUNS ?? 0)) }
}
