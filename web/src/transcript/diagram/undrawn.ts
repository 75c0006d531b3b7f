// Stands in for the kinds of diagram that are left out of the build (see vite.config.ts): each would bring a library of
// its own for something that is hardly ever written. Their source is shown.
throw new Error('FylloCode does not draw diagrams of this kind.')

export const diagram = {}
export default {}
