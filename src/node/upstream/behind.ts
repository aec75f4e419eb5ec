import type { OutputIdProof } from '../../protocol/commitment.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import { provesOutput } from '../../protocol/proofs.ts'
import type { NodeBehind } from '../source.ts'
import type { Nodes } from './nodes.ts'
import { outputOf } from './questions.ts'

/** What the nodes behind are asked for by those who read. */

/** What asking needs. */
export interface BehindDeps {
  readonly nodes: Nodes
}

/** The nodes behind, as those who read see them. */
export function createBehind({ nodes }: BehindDeps): NodeBehind {
  async function proof(id: OutputId, output: Uint8Array): Promise<OutputIdProof | undefined> {
    const told = await nodes.ask(outputOf(id))
    if (!told.ok || told.value === undefined) return undefined
    const { outputIdProof } = told.value
    return provesOutput(id, output, outputIdProof) ? outputIdProof : undefined
  }

  return { proof }
}
