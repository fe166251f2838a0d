"""A model trained on votes in plain PyTorch: labels that change from epoch to epoch."""

import torch
from torch.utils.data import DataLoader, TensorDataset

from dissensus import Delivery, Votes
from dissensus.torch import VotesDataset, soft_cross_entropy


def data(items=400, classes=3, voters=5):
    """Points of three clouds, and the votes of five people who are not sure between them."""
    draw = torch.Generator().manual_seed(0)
    truth = torch.arange(items) % classes
    points = torch.randn(items, 2, generator=draw) + 2 * torch.stack([truth.cos(), truth.sin()], 1)
    sure = torch.nn.functional.one_hot(truth, classes) * 0.7 + 0.1
    labels = torch.multinomial(sure, voters, replacement=True, generator=draw)
    votes = Votes.from_arrays(
        item=torch.arange(items).repeat_interleave(voters),
        label=labels.flatten(),
        annotator=torch.arange(voters).repeat(items),
    )
    return points, votes


def train(method="multipass", epochs=8, seed=0, workers=0):
    torch.manual_seed(seed)
    points, votes = data()
    dataset = VotesDataset(TensorDataset(points), Delivery(votes, method, seed=seed))
    loader = DataLoader(
        dataset, batch_size=32, shuffle=True, num_workers=workers, persistent_workers=workers > 0
    )
    model = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        dataset.set_epoch(epoch)
        for inputs, target in loader:
            loss = soft_cross_entropy(model(inputs), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        logits = model(points)
    return votes, logits


if __name__ == "__main__":
    votes, logits = train()
    expected = torch.from_numpy(votes.targets())
    print("soft NLL", soft_cross_entropy(logits.double(), expected).item())
