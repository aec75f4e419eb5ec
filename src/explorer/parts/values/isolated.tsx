import { withoutDirections } from '../../format.ts'

/** Text that anyone may have written, such as the name of an NFT. It does not change the direction of the text around it. */
export function Isolated({ of: text }: { readonly of: string }) {
  return <bdi>{withoutDirections(text)}</bdi>
}
