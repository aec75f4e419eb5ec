/** How often a property is tried: as often as it says, unless `FC_NUM_RUNS` raises it for all. */
export function runs(usual: number): { readonly numRuns: number } {
  return { numRuns: Math.max(usual, Number(process.env.FC_NUM_RUNS ?? 0)) }
}
