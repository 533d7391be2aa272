//! Where the boxes and arrows of a drawing go: in layers, each box to the right of all that it depends on.

/// What is drawn.
pub(super) struct Graph {
    /// The boxes, by the width of each.
    pub(super) widths: Vec<u32>,
    /// What each depends on, by position.
    pub(super) depends_on: Vec<Vec<usize>>,
}

/// Where it goes.
pub(super) struct Drawing {
    /// The size of the whole.
    pub(super) width: u32,
    /// And its height.
    pub(super) height: u32,
    /// The upper left corners of the boxes.
    pub(super) boxes: Vec<(u32, u32)>,
    /// Lines from what is depended on to what depends on it, each through points.
    pub(super) lines: Vec<Vec<(u32, u32)>>,
}

/// Boxes that can be laid out: what is reachable is kept in bits.
pub(super) const MOST: usize = 120;

/// The height of every box.
pub(super) const HEIGHT: u32 = 40;
const COLUMN_GAP: u32 = 64;
const ROW_GAP: u32 = 14;
/// The room that a line takes where it passes through a layer.
const PASSAGE: u32 = 6;
const MARGIN: u32 = 8;
/// How often the order within layers is improved.
const SWEEPS: usize = 8;

/// A place in a layer: a box, or where a line passes.
struct Place {
    layer: usize,
    width: u32,
    height: u32,
    before: Vec<usize>,
    after: Vec<usize>,
}

/// Lays a graph out; at most [`MOST`] boxes. The same graph is laid out the same.
pub(super) fn lay_out(graph: &Graph) -> Drawing {
    let depends_on = reduced(&graph.depends_on);
    let layers = layers(&depends_on);
    let box_of = |(width, layer): (&u32, &usize)| Place {
        layer: *layer,
        width: *width,
        height: HEIGHT,
        before: Vec::new(),
        after: Vec::new(),
    };
    let mut places: Vec<Place> = graph.widths.iter().zip(&layers).map(box_of).collect();
    let mut routes = Vec::new();
    for (to, from) in depends_on.iter().enumerate() {
        for from in from {
            routes.push(route(*from, to, &mut places));
        }
    }
    let columns = ordered(&places);
    let (corners, width, height) = placed(&places, &columns);
    let centre = |at: usize| corners[at].1 + places[at].height / 2;
    let lines = routes.iter().map(|route| {
        let last = route.len() - 1;
        let points = route.iter().enumerate().flat_map(|(i, at)| {
            let (left, right) = (corners[*at].0, corners[*at].0 + places[*at].width);
            match i {
                0 => vec![(right, centre(*at))],
                i if i == last => vec![(left, centre(*at))],
                _ => vec![(left, centre(*at)), (right, centre(*at))],
            }
        });
        points.collect()
    });
    let lines = lines.collect();
    Drawing { width, height, boxes: corners[..graph.widths.len()].to_vec(), lines }
}

/// Without what is known anyway, since what is depended on depends on it, and without circles.
fn reduced(depends_on: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let order = topological(depends_on);
    let position = |node: usize| order.iter().position(|n| *n == node).unwrap_or_default();
    let mut reachable = vec![0u128; depends_on.len()];
    let mut kept = vec![Vec::new(); depends_on.len()];
    for (at, node) in order.iter().enumerate() {
        // What comes later closes a circle.
        let on = depends_on[*node].iter().copied().filter(|on| position(*on) < at);
        let mut on: Vec<usize> = on.collect();
        on.sort_by_key(|on| std::cmp::Reverse(position(*on)));
        for on in on {
            if reachable[*node] & (1 << on) == 0 {
                kept[*node].push(on);
                reachable[*node] |= reachable[on] | (1 << on);
            }
        }
        kept[*node].sort_unstable();
    }
    kept
}

/// What is depended on first. Of a circle, the first node goes first.
fn topological(depends_on: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(depends_on.len());
    let mut done = vec![false; depends_on.len()];
    while order.len() < depends_on.len() {
        let open = |node: &usize| !done[*node];
        let ready = |node: &usize| depends_on[*node].iter().all(|on| done[*on] || on == node);
        let next: Vec<usize> = (0..done.len()).filter(open).filter(ready).collect();
        let next = match next.is_empty() {
            true => (0..done.len()).find(open).into_iter().collect(),
            false => next,
        };
        for node in next {
            done[node] = true;
            order.push(node);
        }
    }
    order
}

fn layers(depends_on: &[Vec<usize>]) -> Vec<usize> {
    let mut layers = vec![0; depends_on.len()];
    for node in topological(depends_on) {
        let after = depends_on[node].iter().map(|on| layers[*on] + 1).max();
        layers[node] = after.unwrap_or_default();
    }
    layers
}

/// The places that a line passes, one in each layer.
fn route(from: usize, to: usize, places: &mut Vec<Place>) -> Vec<usize> {
    let mut route = vec![from];
    for layer in places[from].layer + 1..places[to].layer {
        places.push(Place {
            layer,
            width: 0,
            height: PASSAGE,
            before: Vec::new(),
            after: Vec::new(),
        });
        route.push(places.len() - 1);
    }
    route.push(to);
    for pair in route.windows(2) {
        if let [a, b] = *pair {
            places[a].after.push(b);
            places[b].before.push(a);
        }
    }
    route
}

/// The layers from left to right, each in an order with few crossings: every place as near as may be to its neighbours.
fn ordered(places: &[Place]) -> Vec<Vec<usize>> {
    let count = places.iter().map(|place| place.layer + 1).max().unwrap_or_default();
    let mut columns = vec![Vec::new(); count];
    for (at, place) in places.iter().enumerate() {
        columns[place.layer].push(at);
    }
    let mut heights = vec![0.0; places.len()];
    let note = |column: &[usize], heights: &mut [f64]| {
        for (row, at) in column.iter().enumerate() {
            // Relative to the middle, since layers are centred.
            heights[*at] = row as f64 - (column.len() as f64 - 1.0) / 2.0;
        }
    };
    columns.iter().for_each(|column| note(column, &mut heights));
    for sweep in 0..SWEEPS {
        let forth = sweep % 2 == 0;
        for step in 0..count {
            let column = if forth { step } else { count - 1 - step };
            let wanted = |at: &usize| {
                let place = &places[*at];
                let near = if forth { &place.before } else { &place.after };
                let sum: f64 = near.iter().map(|near| heights[*near]).sum();
                if near.is_empty() { heights[*at] } else { sum / near.len() as f64 }
            };
            let mut keyed: Vec<(f64, usize)> =
                columns[column].iter().map(|at| (wanted(at), *at)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            columns[column] = keyed.into_iter().map(|(_, at)| at).collect();
            note(&columns[column], &mut heights);
        }
    }
    columns
}

fn placed(places: &[Place], columns: &[Vec<usize>]) -> (Vec<(u32, u32)>, u32, u32) {
    let gap = |column: &[usize]| ROW_GAP * (column.len() as u32).saturating_sub(1);
    let tall =
        |column: &[usize]| column.iter().map(|at| places[*at].height).sum::<u32>() + gap(column);
    let height = columns.iter().map(|column| tall(column)).max().unwrap_or_default();
    let mut corners = vec![(0, 0); places.len()];
    let mut x = MARGIN;
    for column in columns {
        let width = column.iter().map(|at| places[*at].width).max().unwrap_or_default();
        let mut y = MARGIN + (height - tall(column)) / 2;
        for at in column {
            corners[*at] = (x, y);
            y += places[*at].height + ROW_GAP;
        }
        x += width + COLUMN_GAP;
    }
    (corners, (x + MARGIN).saturating_sub(COLUMN_GAP), height + 2 * MARGIN)
}

#[cfg(test)]
mod tests {
    use super::{Graph, lay_out};

    fn graph(depends_on: &[&[usize]]) -> Graph {
        Graph {
            widths: vec![100; depends_on.len()],
            depends_on: depends_on.iter().map(|on| on.to_vec()).collect(),
        }
    }

    #[test]
    fn what_depends_on_another_is_to_the_right_of_it() {
        let drawing = lay_out(&graph(&[&[], &[0], &[0, 1], &[]]));
        let x = |at: usize| drawing.boxes[at].0;
        assert!(x(0) < x(1) && x(1) < x(2) && x(3) == x(0));
        // That 2 depends on 0 follows from the others.
        assert_eq!(drawing.lines.len(), 2);
    }

    #[test]
    fn boxes_do_not_overlap_and_stay_inside() {
        let depends_on: Vec<Vec<usize>> = (0..60)
            .map(|i: usize| [i / 2, i / 3].into_iter().filter(|on| *on < i).collect())
            .collect();
        let graph = Graph { widths: vec![80; 60], depends_on };
        let drawing = lay_out(&graph);
        for (i, (x, y)) in drawing.boxes.iter().enumerate() {
            assert!(x + 80 <= drawing.width && y + super::HEIGHT <= drawing.height);
            for (other_x, other_y) in &drawing.boxes[..i] {
                assert!(x.abs_diff(*other_x) >= 80 || y.abs_diff(*other_y) >= super::HEIGHT);
            }
        }
    }

    #[test]
    fn circles_end() {
        let drawing = lay_out(&graph(&[&[1], &[0], &[2]]));
        assert_eq!(drawing.boxes.len(), 3);
    }
}
